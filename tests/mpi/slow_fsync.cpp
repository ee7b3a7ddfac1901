// Preloaded into a run: a disk that is busy with what others gave it, from a process's second file on. The
// first is the record that the leader writes at the start.
#include <unistd.h>

extern "C" int fsync(int /*descriptor*/) {
    static int calls = 0;
    if (calls++ > 0) {
        sleep(20);
    }
    return 0;
}
