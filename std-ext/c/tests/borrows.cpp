// What borrows from a temporary does not compile, and what is harmless does. Nothing here runs.
#include "tgm_async.hpp"

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

// ---- Archives of bytes ----
constexpr auto from_bytes = TRY(tgm::archive::from_bytes(A));
static_assert(one<bytes &>(from_bytes) && one<const bytes &>(from_bytes) && one<tgm::bytes &>(from_bytes));
static_assert(one<tgm::byte_span>(from_bytes) && one<const tgm::byte_span &>(from_bytes));
static_assert(one<std::array<std::uint8_t, 4> &>(from_bytes));
static_assert(!one<bytes>(from_bytes) && !one<const bytes>(from_bytes) && !one<tgm::bytes>(from_bytes));
static_assert(!one<std::array<std::uint8_t, 4>>(from_bytes));
constexpr auto from_reader = TRY(tgm::archive::from_reader(A));
static_assert(one<std::istringstream &>(from_reader) && !one<std::istringstream>(from_reader));

// ---- Messages borrow from their archive; objects do not ----
constexpr auto item = TRY(A[0]);
constexpr auto message = TRY(A.message(0));
static_assert(one<tgm::archive &>(item) && one<const tgm::archive &>(message));
static_assert(!one<tgm::archive>(item) && !one<tgm::archive>(message));
static_assert(one<tgm::message>(item) && one<tgm::message &>(item));
static_assert(one<tgm::archive>(TRY(A.object(0, 0))) && one<tgm::archive>(TRY(A.query("a = 1"))));
static_assert(one<tgm::message>(TRY(A.metadata())) && one<tgm::message>(TRY(A.bytes())));

// ---- What an object lends ----
constexpr auto request = TRY(A.read());
static_assert(one<tgm::object &>(request) && one<const tgm::object &>(request) && !one<tgm::object>(request));
static_assert(one<tgm::object &>(TRY(tgm::read(A))) && !one<tgm::object>(TRY(tgm::read(A))));
static_assert(one<tgm::object &>(TRY(A.shape())) && !one<tgm::object>(TRY(A.shape())));
static_assert(one<tgm::object &>(TRY(A.payload())) && !one<tgm::object>(TRY(A.payload())));
static_assert(one<tgm::object &>(TRY(A.parameter("a"))) && !one<tgm::object>(TRY(A.parameter("a"))));
static_assert(one<tgm::object>(TRY(A.metadata())) && one<tgm::object>(TRY(A.dtype())));

// ---- Datasets lend their variables; what is asked for is kept ----
constexpr auto variable = TRY(A.read("t"));
static_assert(one<tgm::dataset &>(variable) && one<const tgm::dataset &>(variable) && !one<tgm::dataset>(variable));
static_assert(!one<const tgm::dataset>(variable) && one<tgm::dataset>(TRY(A.json())));
constexpr auto variable_of = TRY(tgm::variable_read(A, "t"));
static_assert(one<tgm::dataset &>(variable_of) && !one<tgm::dataset>(variable_of) && !one<const tgm::dataset>(variable_of));
static_assert(one<tgm::variable_read>(TRY(A.select(std::string("0")))) && one<tgm::variable_read>(TRY(A.options({}))));

// ---- Where values go ----
constexpr auto values_into = TRY(A.values_into(B));
using request_type = tgm::read;
static_assert(two<request_type, doubles &>(values_into) && two<request_type, std::array<double, 2> &>(values_into));
static_assert(two<request_type, double (&)[3]>(values_into) && two<request_type, tgm::span<double>>(values_into));
static_assert(two<request_type, bytes &>(TRY(A.bytes_into(B))));
using variable_type = tgm::variable_read;
static_assert(two<variable_type, doubles &>(values_into) && two<variable_type, std::array<double, 2> &>(values_into));
static_assert(two<variable_type, double (&)[3]>(values_into) && two<variable_type, tgm::span<double>>(values_into));
static_assert(two<variable_type, bytes &>(TRY(A.bytes_into(B))));

// ---- Calls that are over when they return take anything ----
constexpr auto check = TRY(tgm::check(A));
static_assert(one<bytes>(check) && one<tgm::bytes>(check) && one<bytes>(TRY(tgm::validate(A))));
static_assert(one<bytes>(TRY(tgm::compute_hash(A))) && one<bytes>(TRY(tgm::append_raw("a", A))));

// ---- Paths are given as anything that is one ----
constexpr auto open = TRY(tgm::archive::open(A));
static_assert(one<const char *>(open) && one<std::string>(open) && one<std::filesystem::path>(open));
static_assert(one<std::filesystem::path>(TRY(tgm::writer::create(A))) && one<std::string>(TRY(tgm::stream(A))));

// ---- Values of an object to be written, which keeps them until it is written ----
constexpr auto build = TRY(tgm::object_builder({1}, A));
constexpr auto build_bytes = TRY(tgm::object_builder::from_bytes(tgm::dtype::float16, {1}, A));
static_assert(one<doubles &>(build) && one<const doubles &>(build) && one<tgm::span<const double>>(build));
static_assert(one<std::array<double, 2> &>(build) && one<tgm::span<double>>(build) && one<tgm::span<double> &>(build));
static_assert(!one<doubles>(build) && !one<const doubles>(build) && !one<std::array<double, 2>>(build));
static_assert(one<bytes &>(build_bytes) && one<tgm::byte_span>(build_bytes) && !one<bytes>(build_bytes));
static_assert(!one<tgm::bytes>(build_bytes));

// ---- A stream writes at once ----
constexpr auto write = TRY(A.write(tgm::descriptor::of<double>({1}), B));
static_assert(two<tgm::stream &, doubles>(write) && two<tgm::stream &, doubles &>(write));
static_assert(two<tgm::stream &, std::array<double, 1>>(write) && two<tgm::stream &, tgm::span<const double>>(write));
static_assert(one<std::ostringstream &>(TRY(tgm::stream(A))) && !one<std::ostringstream>(TRY(tgm::stream(A))));
constexpr auto to = TRY(tgm::writer::to(A));
static_assert(one<std::ostringstream &>(to) && !one<std::ostringstream>(to));

// ---- What an owner lends ----
constexpr auto begin = TRY(A.begin());
constexpr auto end = TRY(A.end());
template <class T> constexpr bool lends = one<T &>(begin) && one<T &>(end) && !one<T>(begin) && !one<T>(end);
static_assert(lends<tgm::archive> && lends<tgm::message> && lends<tgm::bytes> && lends<tgm::decoded_message>);
static_assert(one<tgm::decoded_message &>(item) && !one<tgm::decoded_message>(item));
static_assert(one<tgm::bytes &>(TRY(A.data())) && !one<tgm::bytes>(TRY(A.data())));
using tgm_metadata = tgm::metadata;
static_assert(one<tgm_metadata &>(TRY(A.get("a"))) && !one<tgm_metadata>(TRY(A.get("a"))));
static_assert(one<tgm_metadata &>(TRY(A.get(0, "a"))) && !one<tgm_metadata>(TRY(A.get(0, "a"))));
static_assert(one<tgm_metadata &>(TRY(A.extra())) && !one<tgm_metadata>(TRY(A.extra())));
static_assert(one<tgm_metadata &>(TRY(A.reserved())) && !one<tgm_metadata>(TRY(A.reserved())));
static_assert(one<tgm_metadata &>(TRY(A.object(0))) && !one<tgm_metadata>(TRY(A.object(0))));

// ---- What owns its result ----
static_assert(one<tgm::bytes>(item) && one<tgm::decoded_message>(TRY(A.metadata())));
static_assert(one<tgm::bytes>(TRY(A.str())) && one<tgm_metadata>(TRY(A.json())));

} // namespace

int main() {}
