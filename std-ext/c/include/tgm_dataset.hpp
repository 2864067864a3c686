// Datasets: n-dimensional variables over many messages. `tgm.hpp` includes it.
#ifndef TGM_DATASET_HPP
#define TGM_DATASET_HPP

#include "tgm_read.hpp"

namespace tgm {

// How sources become a dataset; tgm_dataset_options_t says what each field means.
struct dataset_options {
  std::string profile = "auto";
  std::string duplicates = "error";
  std::optional<std::string> group;
  bool keep_single = false;
  bool ignore_catalogs = false;
  std::size_t index = 0;
  std::optional<std::string> only;
};

class dataset;

// A request for values of a variable, which borrows its dataset. Nothing is read before one of the last methods is called.
class variable_read {
public:
  variable_read(const dataset &of, std::string name);
  variable_read(const dataset &&, std::string) = delete;

  // By labels, "step=0..24, latitude=60:40, number=0", or by indices, "0, 10:20, ..". Dimensions with a single index vanish.
  variable_read select(std::string selection) const {
    variable_read out = *this;
    out.selection_ = std::move(selection);
    return out;
  }
  // Without them all processors decode.
  variable_read options(const decode_options &how) const {
    variable_read out = *this;
    out.options_ = how;
    return out;
  }

  std::vector<std::uint64_t> shape() const { return extent().first; }
  std::size_t size_bytes() const { return extent().second; }

  // The values as they are, in this machine's byte order, a truth value in a byte.
  std::vector<std::uint8_t> bytes() const {
    std::vector<std::uint8_t> out(size_bytes());
    bytes_into(out);
    return out;
  }
  // Into all of `out`.
  void bytes_into(span<std::uint8_t> out) const {
    const raw_request raw(*this);
    detail::check(tgm_dataset_read_into(dataset_, name_.c_str(), &raw.request, out.data(), out.size()));
  }
  // The values as float or double, whatever their type is.
  template <class T> std::vector<T> values() const {
    std::size_t count = 1;
    for (const std::uint64_t dim : shape())
      count *= static_cast<std::size_t>(dim);
    std::vector<T> out(count);
    fill(span<T>(out.data(), out.size()));
    return out;
  }
  // Into all of `out`: a vector, an array, a span.
  template <class C> void values_into(C &&out) const {
    using T = std::remove_pointer_t<decltype(out.data())>;
    fill(span<T>(out.data(), out.size()));
  }
  template <class T, std::size_t N> void values_into(T (&out)[N]) const { fill(span<T>(out, N)); }

private:
  // The structs of C, with pointers to what this has.
  struct raw_request {
    tgm_decode_options_t options;
    tgm_read_t request;

    explicit raw_request(const variable_read &from) : options(), request() {
      request.struct_size = sizeof request;
      request.selection = from.selection_ ? from.selection_->c_str() : nullptr;
      if (from.options_) {
        options = from.options_->raw();
        request.options = &options;
      }
    }
    raw_request(const raw_request &) = delete;
    raw_request &operator=(const raw_request &) = delete;
  };

  std::pair<std::vector<std::uint64_t>, std::size_t> extent() const {
    const raw_request raw(*this);
    std::pair<std::vector<std::uint64_t>, std::size_t> out{std::vector<std::uint64_t>(), 0};
    std::size_t ndim = 0;
    // The first call says how many dimensions there are.
    for (int call = 0; call < 2; ++call) {
      out.first.resize(ndim);
      detail::check(tgm_dataset_read_size(dataset_, name_.c_str(), &raw.request, out.first.data(), out.first.size(), &ndim,
                                          &out.second));
    }
    return out;
  }
  template <class T> void fill(span<T> out) const {
    static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>, "values are read as float or double");
    const raw_request raw(*this);
    if constexpr (std::is_same_v<T, float>)
      detail::check(tgm_dataset_read_f32(dataset_, name_.c_str(), &raw.request, out.data(), out.size()));
    else
      detail::check(tgm_dataset_read_f64(dataset_, name_.c_str(), &raw.request, out.data(), out.size()));
  }

  const tgm_dataset_t *dataset_;
  std::string name_;
  std::optional<std::string> selection_;
  std::optional<decode_options> options_;
};

// Paths or addresses that together are a dataset. Opening reads metadata alone.
class dataset {
public:
  static dataset open(const location &source, const dataset_options &options = {}) {
    return open_many({source.c_str()}, options);
  }
  static dataset open_many(const std::vector<std::string> &sources, const dataset_options &options = {}) {
    std::vector<const char *> names;
    for (const std::string &source : sources)
      names.push_back(source.c_str());
    tgm_dataset_options_t raw = TGM_DATASET_OPTIONS_INIT;
    raw.profile = options.profile.c_str();
    raw.duplicates = options.duplicates.c_str();
    raw.group = options.group ? options.group->c_str() : nullptr;
    raw.keep_single = options.keep_single;
    raw.ignore_catalogs = options.ignore_catalogs;
    raw.index = options.index;
    raw.only = options.only ? options.only->c_str() : nullptr;
    tgm_dataset_t *out = nullptr;
    detail::check(tgm_dataset_open(names.data(), names.size(), &raw, &out));
    dataset made;
    made.handle_.reset(out);
    return made;
  }

  // What it is; tgm_dataset_json() names the entries.
  std::string json() const {
    const char *out = nullptr;
    detail::check(tgm_dataset_json(handle_.get(), &out));
    return detail::text(out);
  }
  // A request for the values of a variable.
  variable_read read(std::string variable) const & { return {*this, std::move(variable)}; }
  variable_read read(std::string) const && = delete;

  const tgm_dataset_t *raw() const noexcept { return handle_.get(); }

private:
  dataset() = default;

  detail::handle<tgm_dataset_t, tgm_dataset_close> handle_;
};

inline variable_read::variable_read(const dataset &of, std::string name) : dataset_(of.raw()), name_(std::move(name)) {}

} // namespace tgm

#endif // TGM_DATASET_HPP
