"""Adds tesela's BLAS drop-in to threadpoolctl: threadpool_info() lists it, threadpool_limits() limits it.

Without this module the drop-in follows the limit of the program's own OpenBLAS or MKL, which it reads at each
call. The package threadpoolctl recognises libraries by file names, and does not know libtesela_blas. With
this module the drop-in is limited without another BLAS, too. Needs threadpoolctl 3.3 or newer.

    LD_PRELOAD=libtesela_blas.so.2 python3 -c '
    import numpy, tesela_threadpoolctl, threadpoolctl
    with threadpoolctl.threadpool_limits(1, user_api="blas"):
        ...'
"""

from threadpoolctl import LibController, register


class TeselaController(LibController):
    user_api = "blas"
    internal_api = "tesela"
    filename_prefixes = ("libtesela_blas",)
    check_symbols = ("tesela_get_num_threads", "tesela_set_num_threads")

    def get_num_threads(self):
        return self.dynlib.tesela_get_num_threads()

    def set_num_threads(self, num_threads):
        self.dynlib.tesela_set_num_threads(num_threads)

    def get_version(self):
        return None


register(TeselaController)
