/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The forms: names that the registry knows but that are no functions, since they choose which of
 * their arguments run, or stand for other expressions. expr/build.c makes nodes of them, and types
 * them.
 */
/* tidy: no-unit-test: a table; function_test.c of expr/ has its cases */
#include "func/func_priv.h"

static const ms_fn_signature signatures_boolean[] = {{"boolean, boolean...", "BOOLEAN"}};
static const ms_fn_signature signatures_if[] = {{"boolean, any, any", ""}};
static const ms_fn_signature signatures_coalesce[] = {{"any...", ""}};
static const ms_fn_signature signatures_two[] = {{"any, any", ""}};
static const ms_fn_signature signatures_between[] = {{"any, any, any", "BOOLEAN"}};

#define FORM(fn_name, fn_form, list)                                                               \
    {                                                                                              \
        .desc =                                                                                    \
            &(const ms_fn_desc){MSI_SCALAR(fn_name), .flags = MSI_STEADY, MSI_SIGNATURES(list)},   \
        .form = (fn_form)                                                                          \
    }

const ms_fn msi_fns_form[] = {
    FORM("AND", MS_FORM_AND, signatures_boolean),
    FORM("OR", MS_FORM_OR, signatures_boolean),
    FORM("IF", MS_FORM_IF, signatures_if),
    FORM("COALESCE", MS_FORM_COALESCE, signatures_coalesce),
    FORM("IFNULL", MS_FORM_IFNULL, signatures_two),
    FORM("NULLIF", MS_FORM_NULLIF, signatures_two),
    FORM("BETWEEN", MS_FORM_BETWEEN, signatures_between),
    FORM("NOT BETWEEN", MS_FORM_BETWEEN, signatures_between),
    FORM("BETWEEN SYMMETRIC", MS_FORM_BETWEEN, signatures_between),
    FORM("NOT BETWEEN SYMMETRIC", MS_FORM_BETWEEN, signatures_between),
    FORM("NOT IN", MS_FORM_IN, signatures_coalesce),
    {NULL, MS_FORM_NONE, NULL},
};
