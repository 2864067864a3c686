// Tensogram in C++17: the model, the same in every language. Header only, over tgm.h; link with -ltensogram.
//
//   tgm::archive    messages of any source: open, size, message, query       tgm::writer     where messages go
//   tgm::message    one message: metadata, objects, bytes, verify            tgm::catalog    queries without the archive
//   tgm::object     one tensor, not yet read: what it is, metadata, read     tgm::stream     a message written before it ends
//   tgm::dataset    many messages as variables with dimensions
//   tgm::read       a request: into memory of its own, or of the caller      tgm::metadata   metadata by dotted path
//
// A class that owns something can be moved and not copied. A class that borrows says from what; it is small and can be
// copied. What borrows cannot be taken from a temporary owner: that does not compile. A span is as std::span is, which
// takes temporaries: functions that take one use it during the call, or say that they borrow. Every failure is a tgm::error.
// Several threads may use one archive or object as tensogram.h says.
#ifndef TGM_HPP
#define TGM_HPP

#include "tgm_dataset.hpp"
#include "tgm_read.hpp"
#include "tgm_write.hpp"

namespace tgm {

// ---- Catalogues ----------------------------------------------------------------------------------------------------

// A catalogue of an archive: it answers queries without reading it.
class catalog {
public:
  catalog(const archive &messages, const std::vector<std::string> &keys, std::uint32_t threads = 0) {
    std::vector<const char *> names;
    for (const std::string &key : keys)
      names.push_back(key.c_str());
    tgm_catalog_t *out = nullptr;
    detail::check(tgm_catalog_build(messages.raw(), names.data(), names.size(), threads, &out));
    handle_.reset(out);
  }
  explicit catalog(const location &path) {
    tgm_catalog_t *out = nullptr;
    detail::check(tgm_catalog_open(path.c_str(), &out));
    handle_.reset(out);
  }
  void save(const location &path) const { detail::check(tgm_catalog_save(handle_.get(), path.c_str())); }
  std::size_t num_messages() const noexcept { return tgm_catalog_num_messages(handle_.get()); }
  std::size_t num_objects() const noexcept { return tgm_catalog_num_objects(handle_.get()); }
  // The numbers of messages, and of objects in them, for archive::object().
  std::vector<tgm_object_ref_t> query(const std::string &text) const {
    tgm_object_list_t *out = nullptr;
    detail::check(tgm_catalog_query(handle_.get(), text.c_str(), &out));
    return detail::taken(out);
  }

private:
  detail::handle<tgm_catalog_t, tgm_catalog_free> handle_;
};

} // namespace tgm

#endif // TGM_HPP
