/* What the test programs in C share. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tgm.h"

/* Ends the program if a fact does not hold. */
#define CHECK(fact)                                              \
  do {                                                           \
    if (!(fact)) {                                               \
      const char *last = tgm_last_error();                       \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #fact); \
      fprintf(stderr, "  last error: %s\n", last ? last : "-");  \
      exit(1);                                                   \
    }                                                            \
  } while (0)

#define OK(call) CHECK((call) == TGM_ERROR_OK)
#define FAILS(code, call) CHECK((call) == (code))
/* The last error has this text in it. */
#define SAYS(text) CHECK(tgm_last_error() != NULL && strstr(tgm_last_error(), (text)) != NULL)

#endif
