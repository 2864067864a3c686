/* Functions that do not block, called as programs do, and as they should not. Arguments: a folder for files; any second one
 * leaves out what forks. Pipes hold tasks where they are: opening one waits for its other end, and writing waits for the reader. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef tgm_async_task_t task_t;
typedef tgm_async_streaming_encoder_t encoder_t;

#define DESCRIPTOR(n)                                                                                     \
  "{\"type\":\"ntensor\",\"ndim\":1,\"shape\":[" n "],\"strides\":[1],\"dtype\":\"float64\","             \
  "\"byte_order\":\"little\",\"encoding\":\"none\",\"filter\":\"none\",\"compression\":\"none\"}"
/* 1 MiB: more than a pipe holds. */
enum { LARGE = 131072 };

static const char *scratch;
static const double four[4] = {1.5, -2, 3, 4};

static const char *in_scratch(const char *name) {
  static char paths[8][4096];
  static int next;
  char *path = paths[next++ % 8];
  snprintf(path, sizeof paths[0], "%s/%s", scratch, name);
  return path;
}

static const char *pipe_at(const char *name) {
  const char *path = in_scratch(name);
  CHECK(mkfifo(path, 0600) == 0);
  return path;
}

static void wait_ms(long ms) {
  struct timespec time;
  time.tv_sec = ms / 1000;
  time.tv_nsec = ms % 1000 * 1000000;
  nanosleep(&time, NULL);
}

/* Waits until a task is ready, for ten seconds at most. */
static bool is_soon_ready(const task_t *task) {
  int tries;
  for (tries = 0; tries < 10000 && !tgm_async_task_is_ready(task); tries++)
    wait_ms(1);
  return tgm_async_task_is_ready(task);
}

/* The end of a task without a value. */
static tgm_error joined(task_t *task) {
  const tgm_error code = tgm_async_task_join_void(task);
  CHECK(tgm_async_task_is_ready(task));
  tgm_async_task_free(task);
  return code;
}

static encoder_t *encoder_at(const char *path) {
  task_t *task = NULL;
  encoder_t *encoder = NULL;
  OK(tgm_async_streaming_encoder_create(path, "{\"run\":7}", "xxh3", 0, NULL, 0, &task));
  OK(tgm_async_task_join_async_streaming_encoder(task, &encoder));
  tgm_async_task_free(task);
  return encoder;
}

static tgm_async_file_t *file_at(const char *path) {
  task_t *task = NULL;
  tgm_async_file_t *file = NULL;
  OK(tgm_async_file_open(path, NULL, 0, &task));
  OK(tgm_async_task_join_async_file(task, &file));
  tgm_async_task_free(task);
  return file;
}

static task_t *write_four(encoder_t *encoder, tgm_cancellation_token_t *cancel, double first) {
  task_t *task = NULL;
  double values[4];
  memcpy(values, four, sizeof values);
  values[0] = first;
  OK(tgm_async_streaming_encoder_write_object(encoder, DESCRIPTOR("4"), (const uint8_t *)values, sizeof values, cancel,
                                              0, &task));
  return task;
}

static task_t *write_large(encoder_t *encoder, tgm_cancellation_token_t *cancel, uint64_t timeout_ms) {
  static double values[LARGE];
  task_t *task = NULL;
  OK(tgm_async_streaming_encoder_write_object(encoder, DESCRIPTOR("131072"), (const uint8_t *)values, sizeof values,
                                              cancel, timeout_ms, &task));
  return task;
}

static tgm_error finish(encoder_t *encoder, bool backfill) {
  task_t *task = NULL;
  OK(tgm_async_streaming_encoder_finish(encoder, backfill, NULL, 0, &task));
  return joined(task);
}

/* The numbers that stand first in the objects of a message. */
static size_t firsts(const uint8_t *bytes, size_t len, double *out, size_t room) {
  tgm_message_t *message = NULL;
  size_t index, count;
  OK(tgm_decode(bytes, len, 1, 0, 1, &message));
  count = tgm_message_num_objects(message);
  CHECK(count <= room);
  for (index = 0; index < count; index++)
    memcpy(&out[index], tgm_object_data(message, index, NULL), sizeof *out);
  tgm_message_free(message);
  return count;
}

static void settings(void) {
  FAILS(TGM_ERROR_INVALID_ARG, tgm_runtime_configure(1000000, 0, 0));
  SAYS("workers is 1000000");
  OK(tgm_runtime_configure(2, 2, 0));
  FAILS(TGM_ERROR_INVALID_ARG, tgm_runtime_configure(2, 2, 0));
  SAYS("runtime already configured or built");
}

static void tokens(void) {
  tgm_cancellation_token_t *token = tgm_cancellation_token_create();
  CHECK(token != NULL && !tgm_cancellation_token_is_cancelled(token));
  tgm_cancellation_token_cancel(token);
  tgm_cancellation_token_cancel(token);
  CHECK(tgm_cancellation_token_is_cancelled(token) && !tgm_cancellation_token_is_cancelled(NULL));
  tgm_cancellation_token_free(token);
  tgm_cancellation_token_free(NULL);
  tgm_cancellation_token_cancel(NULL);
}

/* Launches do not wait for each other, and what is written comes in their order. */
static void writing(void) {
  enum { COUNT = 200 };
  encoder_t *encoder = encoder_at(in_scratch("order.tgm"));
  task_t *tasks[COUNT], *task = NULL;
  size_t index, count = 0;
  CHECK(strstr(tgm_async_streaming_encoder_path(encoder), "order.tgm") != NULL);
  for (index = 0; index < COUNT; index++)
    tasks[index] = write_four(encoder, NULL, (double)index);
  OK(tgm_async_streaming_encoder_finish(encoder, true, NULL, 0, &task));
  OK(joined(task));
  for (index = 0; index < COUNT; index++)
    OK(joined(tasks[index]));
  CHECK(tgm_async_streaming_encoder_try_object_count(encoder, &count) == TGM_OBJECT_COUNT_STATUS_FINISHED && count == 0);
  CHECK(tgm_async_streaming_encoder_object_count(encoder) == SIZE_MAX);
  /* After the end. */
  FAILS(TGM_ERROR_FRAMING, joined(write_four(encoder, NULL, 0)));
  SAYS("encoder already finished");
  FAILS(TGM_ERROR_FRAMING, finish(encoder, false));
  tgm_async_streaming_encoder_free(encoder);

  {
    tgm_file_t *file = NULL;
    tgm_bytes_t bytes = {NULL, 0};
    double found[COUNT];
    OK(tgm_file_open(in_scratch("order.tgm"), &file));
    OK(tgm_file_read_message(file, 0, &bytes));
    CHECK(firsts(bytes.data, bytes.len, found, COUNT) == COUNT);
    for (index = 0; index < COUNT; index++)
      CHECK(found[index] == (double)index);
    tgm_bytes_free(bytes);
    tgm_file_close(file);
  }

  /* What can be wrong with a launch; and what the task ends with, after which the encoder goes on. */
  encoder = encoder_at(in_scratch("wrong.tgm"));
  FAILS(TGM_ERROR_METADATA, tgm_async_streaming_encoder_write_object(encoder, "{}", (const uint8_t *)four, 32, NULL, 0, &task));
  FAILS(TGM_ERROR_METADATA, tgm_async_streaming_encoder_write_preceder(encoder, "[1]", NULL, 0, &task));
  FAILS(TGM_ERROR_METADATA, tgm_async_streaming_encoder_create(in_scratch("x.tgm"), "[", NULL, 0, NULL, 0, &task));
  FAILS(TGM_ERROR_INVALID_ARG, tgm_async_streaming_encoder_create(in_scratch("x.tgm"), "{}", "md5", 0, NULL, 0, &task));
  CHECK(access(in_scratch("x.tgm"), F_OK) != 0);
  FAILS(TGM_ERROR_INVALID_ARG, tgm_async_streaming_encoder_write_object(encoder, DESCRIPTOR("0"), NULL, 0, NULL, 0, &task));
  OK(tgm_async_streaming_encoder_write_object(encoder, DESCRIPTOR("5"), (const uint8_t *)four, 32, NULL, 0, &task));
  CHECK(joined(task) != TGM_ERROR_OK);
  OK(tgm_async_streaming_encoder_write_preceder(encoder, "{\"big\":18446744073709551615}", NULL, 0, &task));
  OK(joined(task));
  OK(tgm_async_streaming_encoder_write_preceder(encoder, "{}", NULL, 0, &task));
  FAILS(TGM_ERROR_FRAMING, joined(task));
  OK(tgm_async_streaming_encoder_write_pre_encoded(encoder, DESCRIPTOR("4"), (const uint8_t *)four, 32, NULL, 0, &task));
  OK(joined(task));
  CHECK(tgm_async_streaming_encoder_try_object_count(encoder, &count) == TGM_OBJECT_COUNT_STATUS_OK && count == 1);
  CHECK(tgm_async_streaming_encoder_object_count(encoder) == 1);
  OK(finish(encoder, false));
  tgm_async_streaming_encoder_free(encoder);
  OK(tgm_async_streaming_encoder_create(in_scratch("no/such/folder.tgm"), "{}", NULL, 0, NULL, 0, &task));
  FAILS(TGM_ERROR_IO, tgm_async_task_join_async_streaming_encoder(task, &encoder));
  tgm_async_task_free(task);
  /* The path is emptied even if the file was a message; an encoder without a finish leaves none. */
  tgm_async_streaming_encoder_free(encoder_at(in_scratch("unfinished.tgm")));
}

static void reading(void) {
  tgm_async_file_t *file = file_at(in_scratch("order.tgm"));
  const uint64_t offsets[3] = {1, 0, 3}, counts[3] = {2, 0, 1}, beyond[3] = {2, 2, 4};
  tgm_cancellation_token_t *unused = tgm_cancellation_token_create();
  task_t *task = NULL;
  tgm_message_t *message = NULL;
  tgm_metadata_t *metadata = NULL;
  tgm_bytes_t bytes = {NULL, 0}, *array = NULL;
  uint64_t size = 0;
  size_t count = 7;
  double value;

  CHECK(strstr(tgm_async_file_path(file), "order.tgm") != NULL);
  OK(tgm_async_file_message_count(file, unused, 60000, &task));
  tgm_cancellation_token_free(unused);
  FAILS(TGM_ERROR_INVALID_ARG, tgm_async_task_join_size(task, NULL));
  SAYS("null out pointer");
  FAILS(TGM_ERROR_INVALID_ARG, tgm_async_task_join_size(NULL, &size));
  SAYS("null task");
  OK(tgm_async_task_join_size(task, &size));
  CHECK(size == 1);
  FAILS(TGM_ERROR_INVALID_ARG, tgm_async_task_join_size(task, &size));
  SAYS("task result already consumed");
  tgm_async_task_free(task);

  OK(tgm_async_file_message_count(file, NULL, UINT64_MAX, &task));
  FAILS(TGM_ERROR_INVALID_ARG, tgm_async_task_join_bytes(task, &bytes));
  SAYS("task result type mismatch (expected bytes)");
  FAILS(TGM_ERROR_INVALID_ARG, tgm_async_task_join_size(task, &size));
  SAYS("task result already consumed");
  tgm_async_task_free(task);

  OK(tgm_async_file_read_message(file, 0, NULL, 0, &task));
  OK(tgm_async_task_join_bytes(task, &bytes));
  CHECK(bytes.len > 8 && memcmp(bytes.data, "TENSOGRM", 8) == 0);
  tgm_bytes_free(bytes);
  tgm_async_task_free(task);

  OK(tgm_async_file_decode_metadata(file, 0, NULL, 0, &task));
  OK(tgm_async_task_join_metadata(task, &metadata));
  CHECK(tgm_metadata_get_int(metadata, "run", 0) == 7);
  tgm_metadata_free(metadata);
  tgm_async_task_free(task);

  OK(tgm_async_file_decode_message(file, 0, true, 0, true, true, NULL, 0, &task));
  OK(tgm_async_task_join_message(task, &message));
  CHECK(tgm_message_num_objects(message) == 200 && tgm_payload_has_hash(message, 3));
  tgm_message_free(message);
  tgm_async_task_free(task);

  OK(tgm_async_file_decode_object(file, 0, 5, true, 0, true, true, NULL, 0, &task));
  OK(tgm_async_task_join_message(task, &message));
  memcpy(&value, tgm_object_data(message, 0, NULL), sizeof value);
  CHECK(tgm_message_num_objects(message) == 1 && value == 5 && tgm_payload_has_hash(message, 0));
  tgm_message_free(message);
  tgm_async_task_free(task);

  OK(tgm_async_file_decode_range(file, 0, 5, offsets, counts, 3, true, 0, NULL, 0, &task));
  OK(tgm_async_task_join_multi_bytes(task, &array, &count));
  CHECK(count == 3 && array[0].len == 16 && array[1].len == 0 && array[1].data != NULL && array[2].len == 8);
  CHECK(memcmp(array[0].data, four + 1, 16) == 0 && memcmp(array[2].data, four + 3, 8) == 0);
  tgm_multi_bytes_free(array, count);
  tgm_async_task_free(task);
  OK(tgm_async_file_decode_range(file, 0, 5, offsets, counts, 0, true, 0, NULL, 0, &task));
  OK(tgm_async_task_join_multi_bytes(task, &array, &count));
  CHECK(count == 0 && array != NULL);
  tgm_multi_bytes_free(array, count);
  tgm_multi_bytes_free(NULL, 5);
  tgm_async_task_free(task);
  FAILS(TGM_ERROR_INVALID_ARG, tgm_async_file_decode_range(file, 0, 5, NULL, NULL, 0, true, 0, NULL, 0, &task));

  /* What is wrong with the file comes by the join. */
  OK(tgm_async_file_decode_range(file, 0, 5, offsets, beyond, 3, true, 0, NULL, 0, &task));
  FAILS(TGM_ERROR_ENCODING, tgm_async_task_join_multi_bytes(task, &array, &count));
  tgm_async_task_free(task);
  OK(tgm_async_file_decode_object(file, 0, 200, true, 0, true, false, NULL, 0, &task));
  FAILS(TGM_ERROR_OBJECT, tgm_async_task_join_message(task, &message));
  tgm_async_task_free(task);
  OK(tgm_async_file_decode_message(file, 1, true, 0, true, false, NULL, 0, &task));
  FAILS(TGM_ERROR_FRAMING, tgm_async_task_join_size(task, &size));
  SAYS("out of range");
  tgm_async_task_free(task);
  OK(tgm_async_file_open(in_scratch("absent.tgm"), NULL, 0, &task));
  FAILS(TGM_ERROR_IO, tgm_async_task_join_async_file(task, &file));
  SAYS("file not found");
  tgm_async_task_free(task);
  OK(tgm_async_file_open(scratch, NULL, 0, &task));
  FAILS(TGM_ERROR_IO, tgm_async_task_join_async_file(task, &file));
  tgm_async_task_free(task);
  FAILS(TGM_ERROR_INVALID_ARG, tgm_async_file_open("\xff", NULL, 0, &task));
  SAYS("invalid UTF-8 in path");

  /* The file may go while tasks read from it, and so may the tasks. */
  OK(tgm_async_file_decode_message(file, 0, true, 0, true, true, NULL, 0, &task));
  tgm_async_task_free(task);
  OK(tgm_async_file_decode_message(file, 0, true, 0, true, true, NULL, 0, &task));
  tgm_async_file_close(file);
  OK(tgm_async_task_join_message(task, &message));
  tgm_message_free(message);
  tgm_async_task_free(task);
  tgm_async_file_close(NULL);
  CHECK(tgm_async_file_path(NULL) == NULL && tgm_async_streaming_encoder_path(NULL) == NULL);
}

static void addresses(void) {
  char url[4096];
  task_t *task = NULL;
  tgm_async_file_t *file = NULL;
  uint64_t count = 0;
  const char *no_text[1] = {NULL};
  if (!tgm_has_feature("async-remote")) {
    FAILS(TGM_ERROR_REMOTE, tgm_async_file_open_remote(NULL, NULL, NULL, 1, true, NULL, 0, NULL));
    SAYS("async-remote");
    return;
  }
  snprintf(url, sizeof url, "file://%s", in_scratch("order.tgm"));
  FAILS(TGM_ERROR_INVALID_ARG, tgm_async_file_open_remote(url, NULL, NULL, 1, true, NULL, 0, &task));
  SAYS("null storage opts pointer");
  FAILS(TGM_ERROR_INVALID_ARG, tgm_async_file_open_remote(url, no_text, no_text, 1, true, NULL, 0, &task));
  SAYS("null storage opt entry");
  OK(tgm_async_file_open_remote(url, NULL, NULL, 0, true, NULL, 0, &task));
  OK(tgm_async_task_join_async_file(task, &file));
  tgm_async_task_free(task);
  OK(tgm_async_file_message_count(file, NULL, 0, &task));
  OK(tgm_async_task_join_size(task, &count));
  CHECK(count == 1 && strcmp(tgm_async_file_path(file), url) == 0);
  tgm_async_task_free(task);
  OK(tgm_async_file_decode_object(file, 0, 5, true, 0, true, true, NULL, 0, &task));
  {
    tgm_message_t *message = NULL;
    OK(tgm_async_task_join_message(task, &message));
    CHECK(tgm_payload_has_hash(message, 0));
    tgm_message_free(message);
  }
  tgm_async_task_free(task);
  tgm_async_file_close(file);
  OK(tgm_async_file_open_remote("teleport://somewhere/x", NULL, NULL, 0, true, NULL, 0, &task));
  FAILS(TGM_ERROR_REMOTE, tgm_async_task_join_async_file(task, &file));
  tgm_async_task_free(task);
}

/* ---- Completion ---- */

typedef struct {
  task_t *task;
  pthread_mutex_t lock;
  pthread_cond_t told;
  int calls;
  bool was_ready;
  bool was_elsewhere;
  tgm_error code;
  pthread_t launcher;
  /* Whether the function joins and frees the task. */
  bool takes;
} watch_t;

static void watch_init(watch_t *watch, bool takes) {
  memset(watch, 0, sizeof *watch);
  pthread_mutex_init(&watch->lock, NULL);
  pthread_cond_init(&watch->told, NULL);
  watch->launcher = pthread_self();
  watch->takes = takes;
}

static void on_completion(void *userdata) {
  watch_t *watch = (watch_t *)userdata;
  const bool was_ready = tgm_async_task_is_ready(watch->task);
  tgm_error code = TGM_ERROR_OK;
  if (watch->takes) {
    code = tgm_async_task_join_void(watch->task);
    CHECK(code == TGM_ERROR_OK || tgm_last_error() != NULL);
    tgm_async_task_free(watch->task);
  }
  pthread_mutex_lock(&watch->lock);
  watch->calls++;
  watch->was_ready = was_ready;
  watch->was_elsewhere = !pthread_equal(pthread_self(), watch->launcher);
  watch->code = code;
  pthread_cond_signal(&watch->told);
  pthread_mutex_unlock(&watch->lock);
}

static void await_call(watch_t *watch) {
  pthread_mutex_lock(&watch->lock);
  while (watch->calls == 0)
    pthread_cond_wait(&watch->told, &watch->lock);
  CHECK(watch->calls == 1 && watch->was_ready && watch->was_elsewhere);
  pthread_mutex_unlock(&watch->lock);
}

static void completions(void) {
  encoder_t *encoder = encoder_at(in_scratch("completions.tgm"));
  tgm_cancellation_token_t *cancelled = tgm_cancellation_token_create();
  watch_t watch;
  /* Set before the end or after it. */
  watch_init(&watch, false);
  watch.task = write_four(encoder, NULL, 0);
  FAILS(TGM_ERROR_INVALID_ARG, tgm_async_task_set_completion(watch.task, NULL, NULL));
  FAILS(TGM_ERROR_INVALID_ARG, tgm_async_task_set_completion(NULL, on_completion, &watch));
  OK(tgm_async_task_set_completion(watch.task, on_completion, &watch));
  FAILS(TGM_ERROR_INVALID_ARG, tgm_async_task_set_completion(watch.task, on_completion, &watch));
  SAYS("completion callback already registered");
  await_call(&watch);
  FAILS(TGM_ERROR_INVALID_ARG, tgm_async_task_set_completion(watch.task, on_completion, &watch));
  SAYS("completion callback already registered");
  OK(joined(watch.task));
  watch_init(&watch, false);
  watch.task = write_four(encoder, NULL, 1);
  CHECK(is_soon_ready(watch.task));
  OK(tgm_async_task_set_completion(watch.task, on_completion, &watch));
  await_call(&watch);
  OK(joined(watch.task));
  watch.task = write_four(encoder, NULL, 2);
  OK(tgm_async_task_join_void(watch.task));
  FAILS(TGM_ERROR_INVALID_ARG, tgm_async_task_set_completion(watch.task, on_completion, &watch));
  SAYS("task result already consumed");
  tgm_async_task_free(watch.task);
  /* The function takes the task, also when it is called at once. */
  watch_init(&watch, true);
  watch.task = write_four(encoder, NULL, 3);
  OK(tgm_async_task_set_completion(watch.task, on_completion, &watch));
  await_call(&watch);
  OK(watch.code);
  watch_init(&watch, true);
  watch.task = write_four(encoder, NULL, 4);
  CHECK(is_soon_ready(watch.task));
  OK(tgm_async_task_set_completion(watch.task, on_completion, &watch));
  await_call(&watch);
  /* Cancelled before the launch. */
  tgm_cancellation_token_cancel(cancelled);
  watch_init(&watch, true);
  watch.task = write_four(encoder, cancelled, 5);
  OK(tgm_async_task_set_completion(watch.task, on_completion, &watch));
  await_call(&watch);
  FAILS(TGM_ERROR_CANCELLED, watch.code);
  OK(finish(encoder, false));
  /* Failed. */
  watch_init(&watch, true);
  watch.task = write_four(encoder, NULL, 6);
  OK(tgm_async_task_set_completion(watch.task, on_completion, &watch));
  await_call(&watch);
  FAILS(TGM_ERROR_FRAMING, watch.code);
  tgm_async_streaming_encoder_free(encoder);
  tgm_cancellation_token_free(cancelled);
}

/* Many functions, each called once. */
static void many_completions(void) {
  enum { COUNT = 1000 };
  static watch_t watches[COUNT];
  encoder_t *encoder = encoder_at(in_scratch("many.tgm"));
  int index;
  for (index = 0; index < COUNT; index++) {
    watch_init(&watches[index], true);
    watches[index].task = write_four(encoder, NULL, index);
    OK(tgm_async_task_set_completion(watches[index].task, on_completion, &watches[index]));
  }
  for (index = 0; index < COUNT; index++) {
    await_call(&watches[index]);
    OK(watches[index].code);
  }
  CHECK(tgm_async_streaming_encoder_object_count(encoder) == COUNT);
  OK(finish(encoder, true));
  tgm_async_streaming_encoder_free(encoder);
}

static void *join_void(void *task) { return tgm_async_task_join_void((task_t *)task) == TGM_ERROR_OK ? task : NULL; }

/* One of two threads gets the value. */
static void joins(void) {
  encoder_t *encoder = encoder_at(in_scratch("joins.tgm"));
  int round;
  for (round = 0; round < 50; round++) {
    task_t *task = write_four(encoder, NULL, round);
    pthread_t threads[2];
    void *got[2];
    int index;
    for (index = 0; index < 2; index++)
      CHECK(pthread_create(&threads[index], NULL, join_void, task) == 0);
    for (index = 0; index < 2; index++)
      pthread_join(threads[index], &got[index]);
    CHECK((got[0] == NULL) != (got[1] == NULL));
    tgm_async_task_free(task);
  }
  tgm_async_streaming_encoder_free(encoder);
}

/* ---- Cancelled ---- */

static void cancelled_before(void) {
  tgm_cancellation_token_t *token = tgm_cancellation_token_create();
  encoder_t *encoder = encoder_at(in_scratch("before.tgm")), *none = NULL;
  tgm_async_file_t *file = NULL;
  task_t *task = NULL;
  size_t count = 0;
  tgm_cancellation_token_cancel(token);
  OK(tgm_async_file_open(in_scratch("order.tgm"), token, 0, &task));
  CHECK(tgm_async_task_is_ready(task));
  FAILS(TGM_ERROR_CANCELLED, tgm_async_task_join_async_file(task, &file));
  SAYS("async task cancelled");
  FAILS(TGM_ERROR_INVALID_ARG, tgm_async_task_join_async_file(task, &file));
  tgm_async_task_free(task);
  OK(tgm_async_streaming_encoder_create(in_scratch("never.tgm"), "{}", NULL, 0, token, 0, &task));
  FAILS(TGM_ERROR_CANCELLED, tgm_async_task_join_async_streaming_encoder(task, &none));
  tgm_async_task_free(task);
  CHECK(access(in_scratch("never.tgm"), F_OK) != 0);
  FAILS(TGM_ERROR_CANCELLED, joined(write_four(encoder, token, 0)));
  OK(tgm_async_streaming_encoder_finish(encoder, true, token, 0, &task));
  FAILS(TGM_ERROR_CANCELLED, joined(task));
  OK(joined(write_four(encoder, NULL, 1)));
  CHECK(tgm_async_streaming_encoder_try_object_count(encoder, &count) == TGM_OBJECT_COUNT_STATUS_OK && count == 1);
  OK(finish(encoder, true));
  tgm_async_streaming_encoder_free(encoder);
  tgm_cancellation_token_free(token);
}

/* Opening a pipe for writing waits for its reader. */
static void cancelled_under_way(void) {
  const char *path = pipe_at("unread");
  tgm_cancellation_token_t *token = tgm_cancellation_token_create();
  encoder_t *encoder = NULL;
  task_t *tasks[4];
  watch_t watch;
  int index, reader;
  for (index = 0; index < 4; index++)
    OK(tgm_async_streaming_encoder_create(path, "{}", NULL, 0, index < 2 ? token : NULL, index == 3 ? 20 : 0, &tasks[index]));
  watch_init(&watch, false);
  watch.task = tasks[0];
  OK(tgm_async_task_set_completion(tasks[0], on_completion, &watch));
  wait_ms(5);
  CHECK(!tgm_async_task_is_ready(tasks[0]) && !tgm_async_task_is_ready(tasks[2]));
  tgm_cancellation_token_cancel(token);
  tgm_cancellation_token_free(token);
  CHECK(tgm_async_task_is_ready(tasks[0]) && tgm_async_task_is_ready(tasks[1]));
  await_call(&watch);
  tgm_async_task_cancel(tasks[2]);
  tgm_async_task_cancel(NULL);
  for (index = 0; index < 4; index++) {
    FAILS(index == 3 ? TGM_ERROR_TIMEOUT : TGM_ERROR_CANCELLED,
          tgm_async_task_join_async_streaming_encoder(tasks[index], &encoder));
    SAYS(index == 3 ? "async task timed out" : "async task cancelled");
    tgm_async_task_free(tasks[index]);
  }
  /* The threads can go. */
  reader = open(path, O_RDONLY);
  CHECK(reader >= 0);
  close(reader);
}

typedef struct {
  int pipe;
  uint8_t *bytes;
  size_t len;
} read_t;

/* Reads a pipe to its end. */
static void *read_all(void *given) {
  read_t *read_ = (read_t *)given;
  for (;;) {
    ssize_t got;
    read_->bytes = (uint8_t *)realloc(read_->bytes, read_->len + 65536);
    CHECK(read_->bytes != NULL);
    got = read(read_->pipe, read_->bytes + read_->len, 65536);
    CHECK(got >= 0);
    if (got == 0)
      return NULL;
    read_->len += (size_t)got;
  }
}

/* Writing into a full pipe waits for its reader: writes are cancelled while they wait, and while they write. */
static void cancelled_writes(void) {
  const char *path = pipe_at("writing");
  tgm_cancellation_token_t *token = tgm_cancellation_token_create();
  task_t *created = NULL, *large, *timed, *waiting, *kept, *ending = NULL;
  encoder_t *encoder = NULL;
  read_t all = {0, NULL, 0};
  double found[8];
  size_t count = 0;
  pthread_t reader;
  OK(tgm_async_streaming_encoder_create(path, "{}", "xxh3", 0, NULL, 0, &created));
  all.pipe = open(path, O_RDONLY);
  CHECK(all.pipe >= 0);
  OK(tgm_async_task_join_async_streaming_encoder(created, &encoder));
  tgm_async_task_free(created);

  large = write_large(encoder, token, 0);
  waiting = write_four(encoder, token, 1);
  timed = write_large(encoder, NULL, 30);
  kept = write_four(encoder, NULL, 2);
  CHECK(tgm_async_streaming_encoder_try_object_count(encoder, &count) == TGM_OBJECT_COUNT_STATUS_BUSY);
  wait_ms(10);
  CHECK(!tgm_async_task_is_ready(large) && !tgm_async_task_is_ready(waiting));
  tgm_cancellation_token_cancel(token);
  FAILS(TGM_ERROR_CANCELLED, joined(large));
  FAILS(TGM_ERROR_CANCELLED, joined(waiting));
  FAILS(TGM_ERROR_TIMEOUT, joined(timed));
  CHECK(!tgm_async_task_is_ready(kept));
  CHECK(tgm_async_streaming_encoder_object_count(encoder) == SIZE_MAX);

  CHECK(pthread_create(&reader, NULL, read_all, &all) == 0);
  OK(joined(kept));
  CHECK(tgm_async_streaming_encoder_object_count(encoder) == 2);
  OK(tgm_async_streaming_encoder_finish(encoder, false, NULL, 0, &ending));
  /* The handle may go while its tasks are under way. */
  tgm_async_streaming_encoder_free(encoder);
  OK(joined(ending));
  pthread_join(reader, NULL);
  close(all.pipe);
  /* The write that had begun is there as a whole, the ones that had not are not there. */
  CHECK(firsts(all.bytes, all.len, found, 8) == 2 && found[0] == 0 && found[1] == 2);
  free(all.bytes);
  tgm_cancellation_token_free(token);
}

/* A process that forks leaves its tasks to the parent. What checks memory takes the threads' memory for lost in the child. */
static void forks(void) {
  int status = 1;
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    tgm_async_file_close(file_at(in_scratch("order.tgm")));
    _exit(0);
  }
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Tasks hang while the runtime is shut down, and the process ends while their threads hang. */
static void shutdown_with_tasks(void) {
  task_t *hanging = NULL, *ready = NULL, *refused = NULL;
  tgm_async_file_t *file = file_at(in_scratch("order.tgm"));
  encoder_t *encoder = NULL;
  uint64_t count = 0;
  watch_t watch, late;
  OK(tgm_async_file_message_count(file, NULL, 0, &ready));
  CHECK(is_soon_ready(ready));
  OK(tgm_async_streaming_encoder_create(pipe_at("hanging"), "{}", NULL, 0, NULL, 0, &hanging));
  watch_init(&watch, false);
  watch.task = hanging;
  OK(tgm_async_task_set_completion(hanging, on_completion, &watch));
  CHECK(tgm_runtime_shutdown_blocking(20) == 1);
  CHECK(tgm_async_task_is_ready(hanging));
  await_call(&watch);
  FAILS(TGM_ERROR_CANCELLED, tgm_async_task_join_async_streaming_encoder(hanging, &encoder));
  tgm_async_task_free(hanging);
  /* What still works. */
  watch_init(&late, false);
  late.task = ready;
  OK(tgm_async_task_set_completion(ready, on_completion, &late));
  await_call(&late);
  OK(tgm_async_task_join_size(ready, &count));
  CHECK(count == 1);
  tgm_async_task_free(ready);
  FAILS(TGM_ERROR_IO, tgm_async_file_message_count(file, NULL, 0, &refused));
  SAYS("runtime has been shut down");
  CHECK(refused == NULL && tgm_async_file_path(file) != NULL);
  FAILS(TGM_ERROR_INVALID_ARG, tgm_runtime_configure(0, 0, 0));
  CHECK(tgm_runtime_shutdown_blocking(UINT64_MAX) == 0);
  tgm_async_file_close(file);
}

int main(int argc, char **argv) {
  CHECK(argc >= 2 && tgm_has_feature("async"));
  scratch = argv[1];
  /* Readers of pipes go before their writers. */
  signal(SIGPIPE, SIG_IGN);
  settings();
  tokens();
  writing();
  reading();
  addresses();
  completions();
  many_completions();
  joins();
  cancelled_before();
  cancelled_under_way();
  cancelled_writes();
  if (argc == 2)
    forks();
  shutdown_with_tasks();
  puts("async: all good");
  return 0;
}
