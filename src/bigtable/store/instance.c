/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instances and clusters. A call is one of the store's own: it goes through the commit queue like
 * those of clients and comes back as a mail.
 */
#include "bigtable/store/instance.h"

#include "bigtable/store/store_priv.h"

static const ms_bt_cluster local_cluster = {
    .id = {MS_BT_LOCAL_CLUSTER, sizeof(MS_BT_LOCAL_CLUSTER) - 1}, .serve_nodes = 1};

static ms_bt_cluster copy_cluster(ms_arena *arena, const ms_bt_cluster *cluster)
{
    ms_bt_cluster copy = *cluster;
    copy.id = ms_arena_copy_str(arena, cluster->id);
    copy.location = ms_arena_copy_str(arena, cluster->location);
    return copy;
}

const ms_bt_instance *ms_bt_instance_copy(ms_arena *arena, const ms_bt_instance *instance)
{
    ms_bt_instance *copy = ms_arena_new(arena, ms_bt_instance);
    *copy = *instance;
    copy->project = ms_arena_copy_str(arena, instance->project);
    copy->id = ms_arena_copy_str(arena, instance->id);
    copy->display_name = ms_arena_copy_str(arena, instance->display_name);
    ms_bt_label *labels = ms_arena_array(arena, ms_bt_label, instance->label_count);
    for (size_t i = 0; i < instance->label_count; i++) {
        labels[i].key = ms_arena_copy_str(arena, instance->labels[i].key);
        labels[i].value = ms_arena_copy_str(arena, instance->labels[i].value);
    }
    copy->labels = labels;
    ms_bt_cluster *clusters = ms_arena_array(arena, ms_bt_cluster, instance->cluster_count);
    for (size_t i = 0; i < instance->cluster_count; i++) {
        clusters[i] = copy_cluster(arena, &instance->clusters[i]);
    }
    copy->clusters = clusters;
    return copy;
}

/* Calls. */

void ms_bt_instance_call_init(ms_bt_instance_call *call, ms_mailbox *mailbox, ms_bt_done_fn done,
                              void *arg)
{
    memset(call, 0, sizeof(*call));
    call->call.mailbox = mailbox;
    call->call.done = done;
    call->call.arg = arg;
    ms_arena_init(&call->answer, 0);
}

void ms_bt_instance_call_release(ms_bt_instance_call *call)
{
    MS_ASSERT(!call->call.outstanding);
    ms_arena_release(&call->answer);
}

static ms_bt_instance_call *call_of(ms_bt_call *call)
{
    return (ms_bt_instance_call *)(void *)((char *)call - offsetof(ms_bt_instance_call, call));
}

static void deliver(ms_mail *mail)
{
    ms_bt_instance_call *call = MS_MAIL_OWNER(mail, ms_bt_instance_call, mail);
    call->call.outstanding = false;
    call->call.done(&call->call, call->call.arg);
}

static void finished(ms_bt_call *base)
{
    ms_mailbox_push(base->mailbox, &call_of(base)->mail);
}

static void begin(ms_bt_store *store, ms_bt_instance_call *call, msi_step_fn step)
{
    MS_ASSERT(!call->call.outstanding && call->call.mailbox != NULL && call->call.done != NULL);
    ms_arena_reset(&call->answer);
    call->answers = NULL;
    call->answer_count = 0;
    call->call.outstanding = true;
    call->call.kind = MS_BT_CALL_COUNT;
    ms_bt_status_clear(&call->call.status);
    call->mail = (ms_mail){.deliver = deliver};
    msi_item *item = msi_store_item(&call->call);
    memset(item, 0, sizeof(*item));
    item->store = store;
    item->step = step;
    item->finished = finished;
    if (step != NULL) {
        msi_commit_enqueue(store, &call->call);
    }
}

/* Finding. */

static ms_bt_table_name name_of(const ms_bt_instance *instance)
{
    return (ms_bt_table_name){instance->project, instance->id, {NULL, 0}};
}

/* How an instance shows; one without a record has one cluster. */
static ms_bt_instance show(const msi_schema *schema, const ms_bt_table_name *name)
{
    const ms_bt_instance *record = msi_schema_instance_record(schema, name);
    return record != NULL ? *record
                          : (ms_bt_instance){.project = name->project,
                                             .id = name->instance,
                                             .display_name = name->instance,
                                             .clusters = &local_cluster,
                                             .cluster_count = 1};
}

static ms_bt_code find(const msi_schema *schema, const ms_bt_instance *instance, ms_bt_status *bt)
{
    ms_bt_table_name name = name_of(instance);
    MS_BT_TRY(ms_bt_instance_name_check(&name, bt));
    return msi_schema_has_instance(schema, &name) ? MS_BT_OK
                                                  : ms_bt_instance_name_missing(&name, bt);
}

static void answer_one(ms_bt_instance_call *call, const ms_bt_instance *instance)
{
    const ms_bt_instance **answers = ms_arena_array(&call->answer, const ms_bt_instance *, 1);
    answers[0] = ms_bt_instance_copy(&call->answer, instance);
    call->answers = answers;
    call->answer_count = 1;
}

/* Checking. */

static ms_bt_code check_text(ms_str text, const char *field, ms_bt_status *bt)
{
    return text.bytes <= MS_BT_LIMIT_INSTANCE_TEXT_BYTES
               ? MS_BT_OK
               : ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                  "Error in field '%s' : %zu bytes; limit %u", field, text.bytes,
                                  MS_BT_LIMIT_INSTANCE_TEXT_BYTES);
}

static ms_bt_code check_cluster(const ms_bt_cluster *cluster, ms_bt_status *bt)
{
    /* The rule for the ids of clusters is that of app profiles, but for its field. */
    ms_bt_status wrong = {0};
    if (ms_bt_profile_id_check(cluster->id, &wrong) != MS_BT_OK) {
        char text[128];
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Error in field 'cluster_id' : \"%s\" is no id of a cluster",
                                ms_bt_bytes_text(cluster->id, text, sizeof(text)));
    }
    return check_text(cluster->location, "location", bt);
}

static ms_bt_code check_instance(const ms_bt_instance *instance, ms_bt_status *bt)
{
    MS_BT_TRY(check_text(instance->display_name, "display_name", bt));
    if (instance->label_count > MS_BT_LIMIT_LABELS ||
        instance->cluster_count > MS_BT_LIMIT_CLUSTERS) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "An instance has at most %u labels and %u clusters",
                                MS_BT_LIMIT_LABELS, MS_BT_LIMIT_CLUSTERS);
    }
    for (size_t i = 0; i < instance->label_count; i++) {
        MS_BT_TRY(check_text(instance->labels[i].key, "labels", bt));
        MS_BT_TRY(check_text(instance->labels[i].value, "labels", bt));
    }
    return MS_BT_OK;
}

/* The index of a cluster; the count when the instance has none of that id. */
static size_t find_cluster(const ms_bt_instance *instance, ms_str id)
{
    size_t i = 0;
    while (i < instance->cluster_count && !ms_str_equals(instance->clusters[i].id, id)) {
        i++;
    }
    return i;
}

/* Adds a cluster to a draft, in the order of ids. The arena owns the new list. */
static ms_bt_code add_cluster(ms_bt_instance *draft, const ms_bt_cluster *cluster, ms_arena *arena,
                              ms_bt_status *bt)
{
    MS_BT_TRY(check_cluster(cluster, bt));
    if (find_cluster(draft, cluster->id) < draft->cluster_count) {
        return ms_bt_status_set(bt, MS_BT_ALREADY_EXISTS, "cluster \"%.*s\" already exists",
                                MS_STR_ARG(cluster->id));
    }
    ms_bt_cluster *clusters = ms_arena_array(arena, ms_bt_cluster, draft->cluster_count + 1);
    size_t count = 0;
    while (count < draft->cluster_count &&
           ms_str_compare(draft->clusters[count].id, cluster->id) < 0) {
        clusters[count] = draft->clusters[count];
        count++;
    }
    clusters[count] = *cluster;
    for (size_t i = count; i < draft->cluster_count; i++) {
        clusters[i + 1] = draft->clusters[i];
    }
    draft->clusters = clusters;
    draft->cluster_count++;
    return check_instance(draft, bt);
}

/* Changes: each makes the draft of the instance as it will be. */

typedef ms_bt_code (*draft_fn)(const msi_schema *schema, ms_bt_instance_call *call,
                               ms_bt_instance *draft, ms_bt_status *bt);

static bool put(ms_bt_store *store, ms_bt_call *base, draft_fn make, ms_status *st)
{
    ms_bt_instance_call *call = call_of(base);
    msi_schema *schema = msi_store_schema(store);
    msi_schema *next = NULL;
    ms_bt_instance draft = {0};
    ms_status refused = {0};
    if (make(schema, call, &draft, &base->status) == MS_BT_OK) {
        if (draft.created_micros == 0) {
            draft.created_micros = store->commit.micros;
        }
        next = msi_schema_put_instance(schema, &draft, store->commit.batch, &refused);
        answer_one(call, &draft);
    }
    msi_admin_finish_change(store, next, &refused, &base->status, st);
    msi_schema_drop(schema);
    return true;
}

static ms_bt_code draft_create(const msi_schema *schema, ms_bt_instance_call *call,
                               ms_bt_instance *draft, ms_bt_status *bt)
{
    const ms_bt_instance *wanted = &call->instance;
    ms_bt_table_name name = name_of(wanted);
    MS_BT_TRY(ms_bt_instance_name_check(&name, bt));
    if (msi_schema_has_instance(schema, &name)) {
        return ms_bt_status_set(bt, MS_BT_ALREADY_EXISTS,
                                "instance \"projects/%.*s/instances/%.*s\" already exists",
                                MS_STR_ARG(name.project), MS_STR_ARG(name.instance));
    }
    if (wanted->cluster_count == 0) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Error in field 'clusters' : an instance needs a cluster");
    }
    MS_BT_TRY(check_instance(wanted, bt));
    *draft = *wanted;
    draft->clusters = NULL;
    draft->cluster_count = 0;
    draft->created_micros = 0;
    for (size_t i = 0; i < wanted->cluster_count; i++) {
        MS_BT_TRY(add_cluster(draft, &wanted->clusters[i], &call->answer, bt));
    }
    return MS_BT_OK;
}

static ms_bt_code draft_update(const msi_schema *schema, ms_bt_instance_call *call,
                               ms_bt_instance *draft, ms_bt_status *bt)
{
    MS_BT_TRY(find(schema, &call->instance, bt));
    ms_bt_table_name name = name_of(&call->instance);
    *draft = show(schema, &name);
    draft->display_name = call->instance.display_name;
    draft->type = call->instance.type;
    draft->labels = call->instance.labels;
    draft->label_count = call->instance.label_count;
    return check_instance(draft, bt);
}

static ms_bt_code draft_add_cluster(const msi_schema *schema, ms_bt_instance_call *call,
                                    ms_bt_instance *draft, ms_bt_status *bt)
{
    MS_BT_TRY(find(schema, &call->instance, bt));
    ms_bt_table_name name = name_of(&call->instance);
    *draft = show(schema, &name);
    return add_cluster(draft, &call->cluster, &call->answer, bt);
}

/* Does an app profile of the instance name the cluster? */
static bool is_routed_to(const msi_schema *schema, const ms_bt_table_name *name, ms_str cluster)
{
    size_t first = 0;
    size_t count = msi_schema_profiles(schema, name, &first);
    for (size_t i = first; i < first + count; i++) {
        const ms_bt_profile *profile = schema->profiles[i];
        bool is_named = ms_str_equals(profile->cluster, cluster);
        for (size_t j = 0; j < profile->cluster_count; j++) {
            is_named = is_named || ms_str_equals(profile->clusters[j], cluster);
        }
        if (is_named) {
            return true;
        }
    }
    return false;
}

static ms_bt_code draft_delete_cluster(const msi_schema *schema, ms_bt_instance_call *call,
                                       ms_bt_instance *draft, ms_bt_status *bt)
{
    MS_BT_TRY(find(schema, &call->instance, bt));
    ms_bt_table_name name = name_of(&call->instance);
    *draft = show(schema, &name);
    size_t at = find_cluster(draft, call->cluster.id);
    char text[128];
    ms_bt_bytes_text(call->cluster.id, text, sizeof(text));
    if (at == draft->cluster_count) {
        return ms_bt_status_set(bt, MS_BT_NOT_FOUND, "cluster \"%s\" not found", text);
    }
    if (draft->cluster_count == 1 || is_routed_to(schema, &name, call->cluster.id)) {
        return ms_bt_status_set(bt, MS_BT_FAILED_PRECONDITION,
                                "cluster \"%s\" is %s and cannot be deleted", text,
                                draft->cluster_count == 1 ? "the instance's last one"
                                                          : "what an app profile routes to");
    }
    ms_bt_cluster *clusters =
        ms_arena_array(&call->answer, ms_bt_cluster, draft->cluster_count - 1);
    size_t count = 0;
    for (size_t i = 0; i < draft->cluster_count; i++) {
        if (i != at) {
            clusters[count++] = draft->clusters[i];
        }
    }
    draft->clusters = clusters;
    draft->cluster_count = count;
    return MS_BT_OK;
}

static bool run_create(ms_bt_store *store, ms_bt_call *call, ms_status *st)
{
    return put(store, call, draft_create, st);
}

static bool run_update(ms_bt_store *store, ms_bt_call *call, ms_status *st)
{
    return put(store, call, draft_update, st);
}

static bool run_add_cluster(ms_bt_store *store, ms_bt_call *call, ms_status *st)
{
    return put(store, call, draft_add_cluster, st);
}

static bool run_delete_cluster(ms_bt_store *store, ms_bt_call *call, ms_status *st)
{
    return put(store, call, draft_delete_cluster, st);
}

static ms_bt_code check_delete(const msi_schema *schema, const ms_bt_table_name *name,
                               ms_bt_status *bt)
{
    size_t first = 0;
    size_t count = msi_schema_instance(schema, name, &first);
    for (size_t i = first; i < first + count; i++) {
        const msi_table *table = schema->tables[i];
        if (table->is_logged) {
            return ms_bt_status_set(bt, MS_BT_FAILED_PRECONDITION,
                                    "table \"%.*s\" retains changes of its change stream; disable "
                                    "the stream first",
                                    MS_STR_ARG(table->def->name.table));
        }
        if (table->def->is_protected) {
            return ms_bt_status_set(bt, MS_BT_FAILED_PRECONDITION,
                                    "table \"%.*s\" is protected against deletion",
                                    MS_STR_ARG(table->def->name.table));
        }
    }
    return MS_BT_OK;
}

static bool run_delete(ms_bt_store *store, ms_bt_call *base, ms_status *st)
{
    ms_bt_instance_call *call = call_of(base);
    ms_bt_table_name name = name_of(&call->instance);
    msi_schema *schema = msi_store_schema(store);
    msi_schema *next = NULL;
    const ms_status refused = {0};
    if (find(schema, &call->instance, &base->status) == MS_BT_OK &&
        check_delete(schema, &name, &base->status) == MS_BT_OK) {
        size_t first = 0;
        size_t count = msi_schema_instance(schema, &name, &first);
        for (size_t i = first; i < first + count; i++) {
            msi_admin_delete_cells(store, schema->tables[i]);
        }
        next = msi_schema_remove_instance(schema, &name, store->commit.batch);
    }
    msi_admin_finish_change(store, next, &refused, &base->status, st);
    msi_schema_drop(schema);
    return true;
}

/* Looking. */

static ms_bt_code list_instances(const msi_schema *schema, ms_bt_instance_call *call,
                                 ms_bt_status *bt)
{
    ms_str project = call->instance.project;
    ms_bt_table_name any = {project, ms_str_lit("any"), {NULL, 0}};
    MS_BT_TRY(ms_bt_instance_name_check(&any, bt));
    size_t room = schema->table_count + schema->profile_count + schema->instance_count;
    const ms_bt_instance **answers = ms_arena_array(&call->answer, const ms_bt_instance *, room);
    ms_bt_table_name name = {project, {NULL, 0}, {NULL, 0}};
    while (msi_schema_next_instance(schema, project, name.instance, &name.instance)) {
        ms_bt_instance shown = show(schema, &name);
        answers[call->answer_count++] = ms_bt_instance_copy(&call->answer, &shown);
    }
    call->answers = answers;
    return MS_BT_OK;
}

/* The functions of the header. */

void ms_bt_store_create_instance(ms_bt_store *store, ms_bt_instance_call *call)
{
    begin(store, call, run_create);
}

void ms_bt_store_get_instance(ms_bt_store *store, ms_bt_instance_call *call)
{
    begin(store, call, NULL);
    msi_schema *schema = msi_store_schema(store);
    if (find(schema, &call->instance, &call->call.status) == MS_BT_OK) {
        ms_bt_table_name name = name_of(&call->instance);
        ms_bt_instance shown = show(schema, &name);
        answer_one(call, &shown);
    }
    msi_schema_drop(schema);
    finished(&call->call);
}

void ms_bt_store_list_instances(ms_bt_store *store, ms_bt_instance_call *call)
{
    begin(store, call, NULL);
    msi_schema *schema = msi_store_schema(store);
    (void)list_instances(schema, call, &call->call.status);
    msi_schema_drop(schema);
    finished(&call->call);
}

void ms_bt_store_update_instance(ms_bt_store *store, ms_bt_instance_call *call)
{
    begin(store, call, run_update);
}

void ms_bt_store_delete_instance(ms_bt_store *store, ms_bt_instance_call *call)
{
    begin(store, call, run_delete);
}

void ms_bt_store_create_cluster(ms_bt_store *store, ms_bt_instance_call *call)
{
    begin(store, call, run_add_cluster);
}

void ms_bt_store_delete_cluster(ms_bt_store *store, ms_bt_instance_call *call)
{
    begin(store, call, run_delete_cluster);
}

size_t ms_bt_store_cluster_ids(ms_bt_store *store, const ms_bt_table_name *instance,
                               ms_arena *arena, const ms_str **ids_out)
{
    msi_schema *schema = msi_store_schema(store);
    ms_bt_instance shown = show(schema, instance);
    ms_str *ids = ms_arena_array(arena, ms_str, shown.cluster_count);
    for (size_t i = 0; i < shown.cluster_count; i++) {
        ids[i] = ms_arena_copy_str(arena, shown.clusters[i].id);
    }
    msi_schema_drop(schema);
    *ids_out = ids;
    return shown.cluster_count;
}
