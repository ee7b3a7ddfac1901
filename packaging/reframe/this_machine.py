"""ReFrame settings to try weir_check.py on one machine, with any number of ranks on its cores, as root or not:

    reframe -C packaging/reframe/this_machine.py -c packaging/reframe/weir_check.py -r

On a cluster, use the site's own settings."""

ONE_MACHINE = {"OMPI_MCA_rmaps_base_oversubscribe": "1", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
               "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

site_configuration = {
    "systems": [{
        "name": "this_machine",
        "descr": "the machine that ReFrame runs on",
        "hostnames": [".*"],
        "partitions": [{
            "name": "all",
            "scheduler": "local",
            "launcher": "mpirun",
            "environs": ["builtin"],
            "env_vars": [[name, value] for name, value in ONE_MACHINE.items()],
        }],
    }],
}
