/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CMOCKA_HEADERS_H
#define CMOCKA_HEADERS_H

/* cmocka.h needs these headers before it, in this order. */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
/* clang-format on */

#endif
