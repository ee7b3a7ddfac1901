# Functions that bench/quickstart and tests/run share. Sourced from the repository root, not run.
# shellcheck shell=bash

# say MESSAGE...: what is being done, on a line of its own.
say() { printf '== %s\n' "$*"; }

# help_if_asked SCRIPT ARGUMENTS...: with --help or -h as the first argument, prints the comment at the top of the script and ends.
help_if_asked() {
    if [[ ${2-} == --help || ${2-} == -h ]]; then
        sed -n '2,/^[^#]/{/^#/s/^# \{0,1\}//p}' "$1"
        exit 0
    fi
}

# Runs a command quietly, with one line that says what it does and how long it took. If the command fails,
# all that it printed is shown.
# quietly "what it does" COMMAND...
quietly() {
    local what=$1 log status=0 start=$SECONDS
    shift
    log=$(mktemp)
    printf '== %s ... ' "$what"
    "$@" >"$log" 2>&1 || status=$?
    if ((status == 0)); then
        printf '%d s\n' $((SECONDS - start))
    else
        printf 'failed:\n'
        cat "$log"
        printf '== %s failed with exit status %d: %s\n' "$what" "$status" "$*"
    fi
    rm -f "$log"
    return "$status"
}

# Fedora and the RHEL family keep each MPI library in a directory that no PATH has before `module load`.
find_mpi() {
    local directory=/usr/lib64/openmpi
    if ! command -v mpirun >/dev/null && [[ -x $directory/bin/mpirun ]]; then
        export PATH="$directory/bin:$PATH"
        export LD_LIBRARY_PATH="$directory/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
    fi
}

# configure CMAKE-ARGUMENTS...: the release preset in build/release. A build directory that was configured
# under another path (a copied or mounted tree) is of no use to CMake and starts afresh; one that was configured
# for another build program than Ninja keeps it. Each library is compiled in one piece (unity): from nothing, that
# takes a third of the time.
configure() {
    local options=() cache=build/release/CMakeCache.txt generator=""
    if [[ -f $cache ]] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "$cache"; then
        options+=(--fresh)
    elif [[ -f $cache ]]; then
        generator=$(sed -n 's/^CMAKE_GENERATOR:INTERNAL=//p' "$cache")
    fi
    if [[ -z $generator ]] && ! command -v ninja >/dev/null; then
        generator="Unix Makefiles"
    fi
    [[ -z $generator ]] || options+=(-G "$generator")
    cmake --preset release "${options[@]}" "$@"
}

# build TARGET...: with a job per core.
build() {
    cmake --build build/release --parallel "$(nproc)" --target "$@"
}
