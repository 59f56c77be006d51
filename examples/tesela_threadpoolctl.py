"""Tells threadpoolctl of tesela's BLAS drop-in: import this, and threadpool_info() lists it, threadpool_limits() limits it.

Without it, limits that threadpoolctl sets to the program's own OpenBLAS or MKL hold for the drop-in, too, which asks that
library at each call. threadpoolctl itself knows a library by the name of its file, and libtesela_blas is none of those. With
this, the drop-in is limited where there is no other BLAS as well. Needs threadpoolctl 3.3 or newer.

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
