// A process of its own for a test: what is caught, marked or killed in it stays there.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "catch.hpp"

struct ChildEnd {
    int status = -1;  ///< exit status; -1: killed
    std::string said;
};

/// Runs `action`, which returns an exit status, in a process of its own.
template <typename Action>
ChildEnd in_child(Action&& action) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        _exit(action());
    }
    close(ends[1]);
    ChildEnd end;
    char buffer[512];
    for (ssize_t length = 0; (length = read(ends[0], buffer, sizeof buffer)) > 0;) {
        end.said.append(buffer, static_cast<std::size_t>(length));
    }
    close(ends[0]);
    int status = 0;
    waitpid(pid, &status, 0);
    end.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return end;
}
