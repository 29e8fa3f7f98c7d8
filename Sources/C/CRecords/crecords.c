#include "crecords.h"
