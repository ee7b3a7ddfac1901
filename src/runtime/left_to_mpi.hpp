// Memory that MPI reads or writes while an exchange is under way. If the exchange is given up, which shows as
// an exception, the memory stays for good: MPI may come back to it as long as it is called at all.
#pragma once

#include <exception>
#include <memory>
#include <utility>

namespace weir::runtime {

template <typename T>
class LeftToMpi {
  public:
    template <typename... Arguments>
    explicit LeftToMpi(Arguments&&... arguments)
        : value_(std::make_unique<T>(std::forward<Arguments>(arguments)...)),
          exceptions_(std::uncaught_exceptions()) {}
    LeftToMpi(const LeftToMpi&) = delete;
    LeftToMpi& operator=(const LeftToMpi&) = delete;
    ~LeftToMpi() {
        if (std::uncaught_exceptions() > exceptions_) {
            static_cast<void>(value_.release());
        }
    }

    T& operator*() { return *value_; }
    T* operator->() { return value_.get(); }

  private:
    std::unique_ptr<T> value_;
    int exceptions_;
};

}  // namespace weir::runtime
