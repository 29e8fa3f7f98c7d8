#pragma once
// The same work in plain C, as far as it will go: what a figure of ours is held against.
