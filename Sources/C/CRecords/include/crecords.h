#pragma once
// The records of `proto/records.proto` as protoc-c makes them.
#include "records.pb-c.h"
