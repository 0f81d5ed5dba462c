// libsystemc requires this function, even in a bench that does not start the kernel.
extern "C" __attribute__((weak)) int sc_main(int, char**) { return 0; }
