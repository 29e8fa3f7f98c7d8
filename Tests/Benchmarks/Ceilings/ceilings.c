#include "ceilings.h"
