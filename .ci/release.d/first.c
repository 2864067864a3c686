/* The first program in C, which opens an archive. Its zstd is its own: the static library keeps other names to itself. */
#include <stdio.h>
#include <tgm.h>

size_t ZSTD_compress(void *to, size_t room, const void *from, size_t len, int level) {
  (void)to, (void)room, (void)from, (void)level;
  return len;
}

int main(int count, char **words) {
  tgm_archive_t *archive = NULL;
  size_t messages = 0;
  if (count < 2 || tgm_archive_open(words[1], &archive) != TGM_ERROR_OK) return 1;
  if (tgm_archive_len(archive, &messages) != TGM_ERROR_OK) return 1;
  printf("%zu messages, library %s\n", messages, tgm_version_string());
  tgm_archive_close(archive);
  return ZSTD_compress(NULL, 0, NULL, 0, 0) != 0;
}
