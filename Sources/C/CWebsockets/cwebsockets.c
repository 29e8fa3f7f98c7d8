#include "cwebsockets.h"
