/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef EMULATORS_SHARED_UNITS_H
#define EMULATORS_SHARED_UNITS_H

#include <stdint.h>

#define NS_PER_S UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_US UINT64_C(1000)

#endif
