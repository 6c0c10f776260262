/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NAMES_OF_PART_H
#define NAMES_OF_PART_H

/**
 * What releases of flashrom call a part of emulators/, ended by NULL. In a source of its own, since
 * the headers of emulators/ and of flashrom/ know nothing of each other.
 */
const char *const *names_of_part(const char *part);

#endif
