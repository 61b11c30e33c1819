# shellcheck shell=bash disable=SC2034,SC2206,SC2086,SC2116 # lists of words are meant
# setup.sh: packages and builds for ./vramsim, tests/run and their like. Sourced by bash; prints on standard error only.
#
#   setup_root        the checkout (set by the caller)
#   setup_yes=1       install without a question, as without a terminal
#   VRAMSIM_BUILD     the folder of the release build; default CHECKOUT/build

setup_build=${VRAMSIM_BUILD:-$setup_root/build}
setup_failed=125 # the exit code when the program could not be built: none of the program's own

setup_say() { printf 'vramsim: %s\n' "$*" >&2; }
setup_die() { setup_say "$@"; exit "$setup_failed"; }
setup_has() { command -v "$1" >/dev/null 2>&1; }

# --- packages --------------------------------------------------------------------------------------------------------
# One row a need: the Debian package, then what proves that it is there (a library by its pkg-config name, else a command).
setup_needed='gcc               command:cc
libc6-dev         header:stdio.h
cmake             command:cmake
ninja-build       command:ninja
pkg-config        command:pkg-config
liblua5.4-dev     library:lua5.4
libjansson-dev    library:jansson
libyajl-dev       library:yajl
libsqlite3-dev    library:sqlite3
zlib1g-dev        library:zlib
libzstd-dev       library:libzstd
libpng-dev        library:libpng'
setup_viewer='libsdl2-dev       library:sdl2
libfreetype-dev   library:freetype2
fonts-dejavu-core file:/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf'
setup_tests='libcmocka-dev     library:cmocka
zstd              command:zstd'
setup_window='xvfb              command:Xvfb
xdotool           command:xdotool
clang-format      command:clang-format'

setup_is_there() {
    case $1 in
    command:*) setup_has "${1#*:}" ;;
    library:*) setup_has pkg-config && pkg-config --exists "${1#*:}" ;;
    header:*) ! setup_has cc || printf '#include <%s>\n' "${1#*:}" | cc -E - >/dev/null 2>&1 ;;
    file:*) [ -e "${1#*:}" ] ;;
    esac
}

# setup_missing ROWS: the packages of rows whose proof is missing, on one line.
setup_missing() {
    local package proof line=
    while read -r package proof; do
        setup_is_there "$proof" || line="$line $package"
    done <<<"$1"
    echo "${line# }"
}

setup_apt() { # PREFIX PACKAGES: with fresh lists when the known ones do not do. What apt says shows on a terminal only.
    local run=($1 env DEBIAN_FRONTEND=noninteractive apt-get -y -qq --no-install-recommends) shown=/dev/null
    [ ! -t 2 ] || shown=/dev/stderr
    "${run[@]}" install $2 >$shown 2>/dev/null && return
    "${run[@]}" update >$shown
    "${run[@]}" install $2 >$shown
}

# What it takes to become root: nothing, sudo, or 1 when there is no way.
setup_privilege() {
    [ "$(id -u)" = 0 ] && return
    setup_has sudo || return 1
    [ -t 0 ] || sudo -n true 2>/dev/null || return 1
    echo sudo
}

# setup_packages NEEDED WANTED: installs what is missing; without the wanted the caller can go on.
setup_packages() {
    local needed wanted all privilege answer command
    needed=$(setup_missing "$1")
    wanted=$(setup_missing "$2")
    all=$(echo $needed $wanted)
    [ -n "$all" ] || return 0
    [ -n "$needed" ] || [ "$(cat "$setup_build/.declined" 2>/dev/null)" != "$all" ] || return 0
    if ! setup_has apt-get; then
        [ -n "$needed" ] || return 0
        setup_say "missing: $needed (names of Debian packages)"
        setup_die "not a Debian or Ubuntu system: install a C17 compiler, cmake 3.25, ninja, pkg-config and the" \
            "development files of Lua 5.4, Jansson, YAJL, SQLite, zlib, zstd, libpng; for the viewer SDL2 and FreeType; then start again"
    fi
    command="apt-get install --no-install-recommends $all"
    if ! privilege=$(setup_privilege); then
        setup_say "missing: $all. As root: $command"
        [ -z "$needed" ] || exit "$setup_failed"
        setup_decline "$all"
        return 0
    fi
    setup_say "needs these packages: $all"
    if [ -z "${setup_yes:-}" ] && [ -t 0 ] && [ -t 2 ]; then
        printf 'Install them now? [Y/n] ' >&2
        read -r answer
        case $answer in
        [nN]*)
            [ -z "$needed" ] || setup_die "install them with: ${privilege:+$privilege }$command"
            setup_decline "$all"
            return 0
            ;;
        esac
    fi
    setup_install "$privilege" "$needed" "$wanted"
}

setup_install() { # PRIVILEGE NEEDED WANTED
    setup_say "installing with apt-get (a minute or two) ..."
    setup_apt "$1" "$2 $3" && return 0
    [ -z "$2" ] || setup_apt "$1" "$2" || setup_die "these could not be installed: $2"
    setup_say "going on without: $3"
    setup_decline "$3"
}

# Remembers that these packages are not to be had, so that the question comes once.
setup_decline() { mkdir -p "$setup_build" 2>/dev/null && echo "$*" >"$setup_build/.declined"; }

# --- builds ----------------------------------------------------------------------------------------------------------

# setup_is_current BUILD PROGRAM: the program is newer than every source, this folder has not been moved.
setup_is_current() {
    [ -x "$1/$2" ] && [ "$(cat "$1/.stamp" 2>/dev/null)" = "$setup_root" ] || return 1
    (cd "$setup_root" && [ -z "$(find CMakeLists.txt CMakePresets.json cmake sim trace viz -newer "$1/.stamp" \
        -print -quit 2>&1)" ])
}

# setup_lock BUILD: one build at a time in a folder; released by setup_unlock or the end of the process.
setup_lock() {
    mkdir -p "$1" 2>/dev/null
    [ -w "$1" ] || setup_die "cannot write to $1: make the checkout writable or name another folder in VRAMSIM_BUILD"
    setup_has flock || return 0
    exec 9>"$1/.lock" || setup_die "cannot write to $1/.lock"
    flock -n 9 || { setup_say "another build is running, waiting ..." && flock 9; }
}

setup_unlock() { exec 9>&-; }

setup_configure() { # PRESET BUILD [CMAKE ARGUMENTS]
    local preset=$1 build=$2 fresh=
    shift 2
    if [ -f "$build/CMakeCache.txt" ] &&
        ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$setup_root" "$build/CMakeCache.txt"; then
        fresh=--fresh # the checkout has been moved
    fi
    ! setup_has ccache || set -- -DCMAKE_C_COMPILER_LAUNCHER=ccache "$@"
    (cd "$setup_root" && cmake --preset "$preset" -B "$build" $fresh "$@") >"$build/configure.log" 2>&1 && return
    cat "$build/configure.log" >&2
    setup_die "cmake failed; its messages are above and in $build/configure.log"
}

# The progress is ninja's: one line that changes on a terminal; elsewhere the log is shown when something fails.
setup_ninja() { # BUILD TARGETS
    local build=$1
    shift
    if [ -t 2 ]; then
        NINJA_STATUS='vramsim: building [%f/%t] ' ninja -C "$build" "$@" 9>&- >&2 && return
    else
        ninja -C "$build" "$@" 9>&- >"$build/build.log" 2>&1 && return
        cat "$build/build.log" >&2
    fi
    setup_die "the build failed; the messages are above"
}

# setup_program: the release build of the programs, current. Its path is $setup_build/bin/vramsim.
setup_program() {
    local began
    setup_is_current "$setup_build" bin/vramsim && return
    setup_packages "$setup_needed" "$setup_viewer"
    setup_lock "$setup_build"
    if ! setup_is_current "$setup_build" bin/vramsim; then # another launch may have built it meanwhile
        began=$SECONDS
        touch "$setup_build/.stamp.new"
        if [ ! -x "$setup_build/bin/vramsim" ]; then
            setup_say "building in $setup_build (once; a minute or so) ..."
        fi
        if setup_must_configure; then
            setup_configure release "$setup_build" -DVRAMSIM_TESTS=OFF
        fi
        setup_ninja "$setup_build" programs
        printf '%s\n' "$setup_root" >"$setup_build/.stamp.text"
        touch -r "$setup_build/.stamp.new" "$setup_build/.stamp.text"
        mv "$setup_build/.stamp.text" "$setup_build/.stamp"
        rm -f "$setup_build/.stamp.new"
        [ $((SECONDS - began)) -lt 2 ] || setup_say "built in $((SECONDS - began)) s"
    fi
    setup_unlock
}

setup_must_configure() {
    [ -f "$setup_build/build.ninja" ] || return 0
    grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$setup_root" "$setup_build/CMakeCache.txt" || return 0
    [ ! -e "$setup_build/bin/vramsim-view" ] && pkg-config --exists sdl2 # SDL2 has come since
}
