"""__main__ -- truth: CPU time of a function in a package that is run by its name"""

import processes


def by_module():
    processes.told("by_module")


by_module()
