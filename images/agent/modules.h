/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Modules of the guest's kernel. */
#ifndef AGENT_MODULES_H
#define AGENT_MODULES_H

/* Loads one module. Returns 0 or a negative errno. */
int module_load(const char *path);

/* Loads all modules of a folder, which may be missing, in order of name. 0 or a negative errno. */
int modules_load(const char *folder);

#endif
