/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel is to refuse to a confined program, whatever its rights: namespaces of users. */
#ifndef CONFINE_FILTER_H
#define CONFINE_FILTER_H

/*
 * For this process and all that come of it. In a namespace of its own a program has every right,
 * and with that a way to far more of the kernel. Negative errno.
 */
int filter_install(void);

#endif
