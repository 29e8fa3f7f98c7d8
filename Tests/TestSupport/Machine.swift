// The machine on which simulations run belongs to the program; tests find it here.
@_exported public import Machine
