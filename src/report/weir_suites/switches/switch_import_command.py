"""weir-sweep switch-import: the sub-command. What each file is, its content tells."""

import re
from dataclasses import dataclass, field

from weir_runs.basics import input_file, units, whole_file
from weir_runs.basics.errors import ReportError

EXPECTED = ("a configuration of SONiC (config_db.json, buffers.json, qos.json, pg_profile_lookup.ini), NVUE (nv config "
            "show -o json) or Arista EOS (show running-config)")
MOST_BYTES = 1 << 30


def run(options):
    """The exit status. Raises ReportError."""
    from . import switch_file, switch_keys
    if not 0 <= options.dscp <= 63:
        raise ReportError(f"--dscp: {options.dscp}; a DSCP is a number from 0 to 63")
    if options.json and not options.audit:
        raise ReportError("--json: it goes with --audit; a switch file is TOML")
    configuration, hosts = _read(options.files)
    port = _port(configuration, options.port)
    if options.audit:
        _print_audit(configuration, port if options.port else None, hosts, options)
    else:
        print(switch_file.text(configuration, port, switch_keys.translate(configuration, port, options.dscp),
                               options.dscp), end="")
    return 0


def _print_audit(configuration, only, hosts, options):
    from . import audit
    if only:
        configuration.ports = [only]
    findings = audit.audit(configuration, options.dscp, hosts)
    if options.json:
        print(whole_file.printed_json(audit.record(configuration, findings)), end="")
    else:
        print("\n".join(audit.lines(configuration, findings)))


@dataclass
class _Given:
    """The files by what they are: SONiC's tables by ASIC, its lookup files, other switches' descriptions, hosts."""
    asics: dict = field(default_factory=dict)
    lookups: list = field(default_factory=list)
    others: list = field(default_factory=list)
    hosts: list = field(default_factory=list)


def _read(paths):
    """A SwitchConfiguration and HostSettings out of all files."""
    from . import sonic_reader, sonic_tables
    given, names = _Given(), [path.name for path in paths]
    for path in paths:
        text = input_file.read_text(path, EXPECTED, MOST_BYTES)
        take = _take_json if text.lstrip()[:1] in ("{", "[") else _take_text
        take(given, path, text, names)
    if len(given.others) + bool(given.asics) != 1:
        found = "several switches are" if given.others else "no configuration of a switch is"
        raise ReportError(f"{paths[0]}: {found} among the files; {EXPECTED} is expected")
    for tables in given.asics.values():
        for name, text in given.lookups:
            sonic_tables.read_lookup(tables, name, text)
    configuration = given.others[0] if given.others else sonic_reader.describe(names, given.asics)
    if not configuration.ports:
        raise ReportError(f"{paths[0]}: no port has queues, priority groups or maps; {EXPECTED} is expected")
    return configuration, given.hosts


def _take_json(given, path, text, names):
    from . import host_settings, nvue_reader
    # NVUE writes a list.
    document = input_file.object_of(path, f'{{"list": {text}}}' if text.lstrip().startswith("[") else text, EXPECTED)
    if document.get("schema") == "weir-check/1":
        given.hosts += host_settings.of_check(path.name, document)
    elif tree := nvue_reader.tree_of(document):
        given.others.append(nvue_reader.describe(names, path.name, tree, nvue_reader.header_of(document)))
    else:
        _add_sonic(given.asics, path, text, document)


def _take_text(given, path, text, names):
    from . import eos_reader, host_settings, sonic_tables
    if sonic_tables.is_lookup(text):
        given.lookups.append((path.name, text))
    elif eos_reader.is_eos(text):
        given.others.append(eos_reader.describe(names, path.name, text))
    elif host_settings.is_hosts(text):
        given.hosts.append(host_settings.of_text(path.name, text))
    elif re.search(r"^nv (set|unset) ", text, re.MULTILINE):
        raise ReportError(f"{path}: commands of nv set; on the switch, nv config show -o json prints what is read")
    else:
        raise ReportError(f"{path}: not known; {EXPECTED} is expected")


def _add_sonic(asics, path, text, document):
    from . import sonic_tables
    if not sonic_tables.is_sonic(document):
        raise ReportError(f"{path}: JSON without a table of SONiC's buffers or QoS; {EXPECTED} is expected")
    for name, tables in sonic_tables.namespaces(document).items():
        asics.setdefault(name, sonic_tables.Tables()).add(path.name, tables)
    if twice := sonic_tables.count_of_names_twice(text):
        next(iter(asics.values())).odd[f"{path.name}: {units.counted(twice, 'name')} of one table more than once; the "
                                       "last counts, as on the switch"] = None


def _port(configuration, name):
    """The class of ports that is asked for, else the one with the most members."""
    if name is None:
        return configuration.ports[0]
    for port in configuration.ports:
        if name in port.names:
            port.names.remove(name)
            port.names.insert(0, name)
            return port
    raise ReportError(f"--port: {name} is no port of the configuration; {configuration.ports[0].names[0]} is one")
