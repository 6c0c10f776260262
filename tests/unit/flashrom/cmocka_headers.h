/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CMOCKA_HEADERS_H
#define CMOCKA_HEADERS_H

/* cmocka.h relies on its user for these, in this order. */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
/* clang-format on */

#endif
