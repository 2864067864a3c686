// What borrows from a temporary does not compile, and what is harmless does. Nothing here runs.
#include "tgm.hpp"

#include <array>
#include <sstream>

namespace {

using bytes = std::vector<std::uint8_t>;
using doubles = std::vector<double>;

template <class F, class... A> constexpr bool compiles(F) { return std::is_invocable_v<F, A...>; }

// `compiles<A…>(TRY(expression of the arguments a and b))`. The expression is only typed.
#define TRY(...) [](auto &&a, auto &&b) -> decltype((void)(__VA_ARGS__)) { (void)a, (void)b; }
#define A static_cast<decltype(a) &&>(a)
#define B static_cast<decltype(b) &&>(b)

struct none {};
template <class T, class F> constexpr bool one(F f) { return compiles<F, T, none>(f); }
template <class T, class U, class F> constexpr bool two(F f) { return compiles<F, T, U>(f); }

// ---- Views and messages of a buffer ----
constexpr auto view = TRY(tgm::view(A));
static_assert(one<bytes &>(view) && one<const bytes &>(view) && one<tgm::bytes &>(view));
static_assert(one<tgm::byte_span>(view) && one<const tgm::byte_span &>(view) && one<tgm_view_t *>(view));
static_assert(one<std::array<std::uint8_t, 4> &>(view));
static_assert(!one<bytes>(view) && !one<const bytes>(view) && !one<tgm::bytes>(view));
static_assert(!one<std::array<std::uint8_t, 4>>(view));

constexpr auto messages = TRY(tgm::messages(A));
static_assert(one<bytes &>(messages) && one<tgm::bytes &>(messages) && one<tgm::byte_span>(messages));
static_assert(!one<bytes>(messages) && !one<const bytes>(messages) && !one<tgm::bytes>(messages));

// ---- Calls that are over when they return take anything ----
constexpr auto decode = TRY(tgm::decode(A));
constexpr auto check = TRY(tgm::check(A));
static_assert(one<bytes>(decode) && one<tgm::bytes>(decode) && one<bytes &>(decode) && one<tgm::byte_span>(decode));
static_assert(one<bytes>(check) && one<tgm::bytes>(check));

// ---- Values of an encoder, which keeps them until the message is made ----
constexpr auto add = TRY(tgm::encoder().add(tgm::descriptor::of<double>({1}), A));
constexpr auto add_of_type = TRY(tgm::encoder().add<double>(tgm::descriptor::of<double>({1}), A));
constexpr auto add_with_metadata = TRY(tgm::encoder().add(tgm::descriptor::of<double>({1}), A, "{}"));
constexpr auto add_raw = TRY(tgm::encoder().add_raw("{}", A));
static_assert(one<doubles &>(add) && one<const doubles &>(add) && one<tgm::span<const double>>(add));
static_assert(one<std::array<double, 2> &>(add) && one<tgm::span<double>>(add) && one<tgm::span<double> &>(add));
static_assert(one<doubles &>(add_of_type) && one<tgm::span<const double>>(add_of_type));
static_assert(one<doubles &>(add_with_metadata) && one<bytes &>(add_raw) && one<tgm::byte_span>(add_raw));
static_assert(!one<doubles>(add) && !one<const doubles>(add) && !one<std::array<double, 2>>(add));
static_assert(!one<doubles>(add_of_type) && !one<doubles>(add_with_metadata));
static_assert(!one<bytes>(add_raw) && !one<tgm::bytes>(add_raw));

constexpr auto extra = TRY(tgm::encoder().extra(A));
constexpr auto metadata = TRY(tgm::encoder().metadata(A));
constexpr auto set = TRY(tgm::encoder().extra(A.set("a", 1)));
constexpr auto set_bytes = TRY(tgm::encoder().extra(A.set_bytes("a", bytes(1))));
using builder = tgm::metadata_builder;
static_assert(one<builder &>(extra) && one<builder &>(metadata) && one<builder &>(set) && one<builder &>(set_bytes));
static_assert(!one<builder>(extra) && !one<builder>(metadata) && !one<builder>(set) && !one<builder>(set_bytes));

// ---- A stream writes at once ----
constexpr auto write = TRY(A.write(tgm::descriptor::of<double>({1}), B));
static_assert(two<tgm::stream &, doubles>(write) && two<tgm::stream &, doubles &>(write));
static_assert(two<tgm::stream &, std::array<double, 1>>(write) && two<tgm::stream &, tgm::span<const double>>(write));
static_assert(one<std::ostringstream &>(TRY(tgm::stream(A))) && !one<std::ostringstream>(TRY(tgm::stream(A))));

// ---- What an owner lends ----
constexpr auto begin = TRY(A.begin());
constexpr auto end = TRY(A.end());
template <class T> constexpr bool lends = one<T &>(begin) && one<T &>(end) && !one<T>(begin) && !one<T>(end);
static_assert(lends<tgm::message> && lends<tgm::messages> && lends<tgm::view> && lends<tgm::file>);
static_assert(lends<tgm::bytes> && lends<tgm::object_list>);
constexpr auto item = TRY(A[0]);
static_assert(one<tgm::message &>(item) && one<tgm::view &>(item) && !one<tgm::message>(item) && !one<tgm::view>(item));
static_assert(one<tgm::bytes &>(TRY(A.data())) && !one<tgm::bytes>(TRY(A.data())));
using tgm_metadata = tgm::metadata;
static_assert(one<tgm_metadata &>(TRY(A.get("a"))) && !one<tgm_metadata>(TRY(A.get("a"))));
static_assert(one<tgm_metadata &>(TRY(A.get(0, "a"))) && !one<tgm_metadata>(TRY(A.get(0, "a"))));
static_assert(one<tgm_metadata &>(TRY(A.extra())) && !one<tgm_metadata>(TRY(A.extra())));
static_assert(one<tgm_metadata &>(TRY(A.reserved())) && !one<tgm_metadata>(TRY(A.reserved())));
static_assert(one<tgm_metadata &>(TRY(A.object(0))) && !one<tgm_metadata>(TRY(A.object(0))));

// ---- What owns its result, or borrows from something else than the temporary ----
static_assert(one<tgm::messages>(item) && one<tgm::file>(item) && one<tgm::object_list>(item) && one<tgm::bytes>(item));
static_assert(one<tgm::message>(TRY(A.metadata())) && one<tgm::view>(TRY(A.metadata())));
static_assert(one<tgm::file>(TRY(A.view(0))) && one<tgm::file>(TRY(A.metadata(0))) && one<tgm::file>(TRY(A.decode(0))));
static_assert(one<tgm::bytes>(TRY(A.str())) && one<tgm_metadata>(TRY(A.json())));

} // namespace

int main() {}
