#pragma once
// Stands in the place of the system's look-up of names, for this process and the libraries in it: the
// name `slow.test` is not answered until it is let go; all others are looked up as usual.

/// How many look-ups hang.
int slow_names_hanging(void);
/// Answers all that hang, now and from now on, that there is no such name for now.
void slow_names_let_go(void);
