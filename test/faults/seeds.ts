/**
 * Bugs that `run-seeds.ts` inserts into a copy of the sources, one at a time, each with the test that must detect it. A
 * test that cannot fail proves nothing. `find` must occur exactly once in its file. When the code changes, the row must
 * be updated (`seeds.test.ts` reports outdated rows).
 */
export interface Seed {
  readonly bug: string
  readonly file: string
  readonly changes: readonly { readonly find: string; readonly replace: string }[]
  /** The test file, and a part of the name of the test that must fail. */
  readonly test: string
  readonly expected: string
}

const simulation = { test: 'test/faults/simulation.test.ts', expected: 'simulated runs with different seeds' }
const images = { test: 'test/faults/crash-images.test.ts', expected: 'contain every acknowledged commit' }
const access = { test: 'test/apiserver/authz/matrix.test.ts', expected: 'match a model of RBAC' }
const workers = { test: 'test/storage/store/worker-store.long.test.ts' }
const etcdWorkers = { test: 'test/storage/store/etcd-workers.long.test.ts' }
const identity = { test: 'test/apiserver/http/identity.test.ts' }

function seed(
  bug: string,
  where: { file: string; find: string; replace: string },
  by: { test: string; expected: string },
) {
  return { bug, file: where.file, changes: [{ find: where.find, replace: where.replace }], ...by }
}

export const seeds: readonly Seed[] = [
  seed(
    'a write is acknowledged before it is synced',
    {
      file: 'src/storage/store/lmdb/tables.ts',
      find: 'overlappingSync: false,',
      replace: 'overlappingSync: false,\n    noMetaSync: true,',
    },
    images,
  ),
  {
    bug: 'a commit is split into several transactions',
    file: 'src/storage/store/lmdb/write.ts',
    changes: [
      {
        find: 'const result = tables.root.transactionSync(() => {',
        replace: 'const result = ((run: () => { state: State; replies: ArrayBuffer[] }) => run())(() => {',
      },
    ],
    ...images,
  },
  seed(
    'an event is not delivered',
    {
      file: 'src/storage/cache/kind-cache.ts',
      find: '    this.#watchers.notify(event)\n',
      replace: '    if (change.revision % 5 !== 0) this.#watchers.notify(event)\n',
    },
    simulation,
  ),
  seed(
    'an event is delivered twice',
    {
      file: 'src/storage/cache/event-buffer.ts',
      find: 'if (this.#events[middle]!.revision <= revision) low',
      replace: 'if (this.#events[middle]!.revision < revision) low',
    },
    simulation,
  ),
  seed(
    'a bookmark is sent too early',
    {
      file: 'src/apiserver/registry/verbs/watch.ts',
      find: 'return Math.max(watcher.revision, caches.revision)',
      replace: 'return Math.max(watcher.revision, caches.revision) + 1',
    },
    simulation,
  ),
  seed(
    'a revision is used twice',
    {
      file: 'src/storage/store/memory.ts',
      find: 'const revision = this.#tail.revision + 1',
      replace: 'const revision = this.#tail.revision + (value === undefined && this.#tail.revision > 3 ? 0 : 1)',
    },
    simulation,
  ),
  seed(
    'a most-recent read is stale',
    {
      file: 'src/apiserver/registry/catalogue/resource.ts',
      find: 'return revision.then((later) => catchUp(caches, later))',
      replace: 'return revision.then(() => {})',
    },
    simulation,
  ),
  seed(
    'a page omits an object',
    {
      file: 'src/apiserver/registry/verbs/list.ts',
      find: 'const objects = resource.cache.page(namespace, after, limit)',
      replace: 'const objects = resource.cache.page(namespace, after, limit + 1).filter((_, i) => i !== 1)',
    },
    simulation,
  ),
  seed(
    'a deleted object stays in the cache',
    {
      file: 'src/storage/cache/kind-cache.ts',
      find: 'if (next === undefined) this.#objects.delete(key)',
      replace:
        'if (next === undefined && key.length === 0) this.#objects.delete(key)\n    else if (next === undefined) return',
    },
    simulation,
  ),
  seed(
    'a delete is undone by a restart',
    {
      file: 'src/storage/store/lmdb/write.ts',
      find: '    remove(tables.current, key)\n  } else {',
      replace: '    if (key.length === 0) remove(tables.current, key)\n  } else {',
    },
    { test: 'test/storage/store/lmdb.test.ts', expected: 'delet' },
  ),
  seed(
    'the store ignores the guards of a commit',
    {
      file: 'src/storage/store/lmdb/write.ts',
      find: '      hold = false\n',
      replace: '      hold = true\n',
    },
    { test: 'test/storage/store/lmdb.test.ts', expected: 'guards' },
  ),
  seed(
    'an update ignores its resourceVersion',
    {
      file: 'src/apiserver/registry/verbs/update.ts',
      find: 'if (isExactVersion) assertVersion(',
      replace: 'if (isExactVersion && stored.revision < 0) assertVersion(',
    },
    { test: 'test/faults/linearizability.test.ts', expected: 'the embedded store' },
  ),
  seed(
    '__proto__ is lost',
    { file: 'src/api/json/json.ts', find: "if (key === '__proto__') {", replace: "if (key === '__proto__ ') {" },
    { test: 'test/apiserver/http/basic-requests.test.ts', expected: '__proto__ and similar names' },
  ),
  {
    bug: 'a merge patch changes the prototype of all objects',
    file: 'src/api/merge/merge-patch.ts',
    changes: [
      { find: 'isObject(document) ? yield* copySliced(document) : {}', replace: 'isObject(document) ? document : {}' },
      { find: 'mergePatchSliced(own(result, key), value)', replace: 'mergePatchSliced(result[key], value)' },
    ],
    test: 'test/support/prototypes.test.ts',
    expected: 'the guard against prototype pollution is active in a server',
  },
  seed(
    'an invalid token authenticates as anonymous',
    {
      file: 'src/apiserver/authn/static-tokens.ts',
      find: 'if (user === undefined) return refused',
      replace: 'if (user === undefined) return none',
    },
    { ...identity, expected: 'a request with an invalid token is never treated as anonymous' },
  ),
  seed(
    'anonymous requests are accepted if AlwaysAllow is not the first authorization mode',
    {
      file: 'src/server/identity/identity.ts',
      find: "!authorizationModesOf(options).includes('AlwaysAllow')",
      replace: "authorizationModesOf(options)[0] !== 'AlwaysAllow'",
    },
    { ...identity, expected: 'as configured with --authorization-mode=AlwaysDeny,AlwaysAllow' },
  ),
  seed(
    'invalid base64 is accepted as in Node',
    {
      file: 'src/api/schema/read-scalars.ts',
      find: 'return same && paddedEnd.test(text.slice(-4)) ? canonical : undefined',
      replace: 'return canonical',
    },
    { test: 'test/apiserver/http/hostile-bodies.test.ts', expected: 'base64' },
  ),
  seed(
    'a truncated signature is accepted',
    {
      file: 'src/apiserver/registry/reads/continue-token.ts',
      find: 'signature?.length === expected.length && timingSafeEqual(signature, expected)',
      replace:
        'signature !== undefined && (signature.length === 0 || timingSafeEqual(signature, expected.subarray(0, signature.length)))',
    },
    { test: 'test/apiserver/http/hostile-queries.test.ts', expected: 'continue' },
  ),
  seed(
    'a field selector with two different values for a field matches objects',
    {
      file: 'src/api/selectors/field-selector.ts',
      find: ' || equal.size > 1 || (equal.size === 1 &&',
      replace: ' || (equal.size > 0 &&',
    },
    { test: 'test/fuzz/queries.test.ts', expected: 'random queries return what a simple model predicts' },
  ),
  seed(
    'a patch that deletes list elements keeps one of them',
    {
      file: 'src/api/merge/strategic-merge-patch.ts',
      find: 'const remainingItems = without(present, identify, identitiesOf(deleted, identify, mergeKeyOf(schema)))',
      replace:
        'const remainingItems = without(present, identify, identitiesOf(deleted, identify, mergeKeyOf(schema)).slice(1))',
    },
    { test: 'test/fuzz/patches.test.ts', expected: 'strategic merge patches' },
  ),
  seed(
    'short DeleteOptions are ignored',
    {
      file: 'src/apiserver/http/request/content.ts',
      find: '  if (bytes.length === 0) return undefined\n',
      replace: '  if (bytes.length < 40) return undefined\n',
    },
    { test: 'test/fuzz/bodies.test.ts', expected: 'random bodies are rejected or stored' },
  ),
  seed(
    'keys are sorted in JavaScript order instead of UTF-8',
    {
      file: 'src/base/collections/utf8-order.ts',
      find: 'return isSurrogate(x) === isSurrogate(y) ? x - y : isSurrogate(x) ? 1 : -1',
      replace: 'return isSurrogate(x) === isSurrogate(y) ? x - y : x - y',
    },
    { test: 'test/base/sorted-map.test.ts', expected: 'sorts keys by their bytes' },
  ),
  seed(
    'a file has the mode that the umask allows',
    { file: 'src/base/files/files.ts', find: '  await handle.chmod(mode)\n', replace: '' },
    { test: 'test/base/files.test.ts', expected: 'has the requested mode regardless of the umask' },
  ),
  seed(
    'a rule with resource names applies to requests without a name',
    {
      file: 'src/apiserver/authz/rbac/rule.ts',
      find: 'hasResource(resources, plural, subresource) && has(names, name)',
      replace: "hasResource(resources, plural, subresource) && (name === '' || has(names, name))",
    },
    access,
  ),
  seed(
    'a rule for a resource applies to its subresources',
    {
      file: 'src/apiserver/authz/rbac/rule.ts',
      find: "if (subresource === '') return resources.has(plural)",
      replace: 'if (resources.has(plural)) return true',
    },
    access,
  ),
  seed(
    'a rule for a subresource of all resources matches no requests',
    { file: 'src/apiserver/authz/rbac/rule.ts', find: ` || resources.has(\`*/\${subresource}\`)`, replace: '' },
    access,
  ),
  seed(
    'a rule for one API group applies to all groups',
    { file: 'src/apiserver/authz/rbac/rule.ts', find: 'has(groups, group) && ', replace: '' },
    access,
  ),
  seed(
    'permission to list includes watch',
    {
      file: 'src/apiserver/authz/rbac/rule.ts',
      find: 'if (!has(rule.verbs, attributes.verb)) return false',
      replace: "if (!has(rule.verbs, attributes.verb === 'watch' ? 'list' : attributes.verb)) return false",
    },
    access,
  ),
  seed(
    'a rule for a path applies to all paths below it',
    {
      file: 'src/apiserver/authz/rbac/rule.ts',
      find: '  return has(paths, path) || ',
      replace: '  return has(paths, path) || (paths ?? new Set()).values().some((each) => path.startsWith(each)) || ',
    },
    access,
  ),
  seed(
    'a RoleBinding applies to every namespace',
    {
      file: 'src/apiserver/authz/rbac/policy.ts',
      find: 'const bound = entry(holdings, binding.namespace, () => new Map())',
      replace: "const bound = entry(holdings, '', () => new Map())",
    },
    access,
  ),
  seed(
    'a Role and a ClusterRole with the same name are confused',
    {
      file: 'src/apiserver/authz/rbac/policy.ts',
      find: "return roleKey(role.kind === 'Role' ? namespace : '', role.name)",
      replace: "return roleKey('', role.name)",
    },
    access,
  ),
  seed(
    'only the first group of a user counts',
    {
      file: 'src/apiserver/authz/rbac/policy.ts',
      find: 'grantedRule === undefined && i < user.groups.length',
      replace: 'grantedRule === undefined && i < Math.min(1, user.groups.length)',
    },
    access,
  ),
  seed(
    'service accounts with the same name in two namespaces are confused',
    {
      file: 'src/api/model/user.ts',
      find: `  return \`\${accountPrefix}\${namespace}:\${name}\``,
      replace: `  return \`\${accountPrefix}\${namespace === 'b' ? 'a' : namespace}:\${name}\``,
    },
    access,
  ),
  seed(
    'listing one object by name requires permission to list all',
    {
      file: 'src/apiserver/http/steps/authorize.ts',
      find: 'checkPathSegment(name).length > 0 ? info : { ...info, name }',
      replace: 'checkPathSegment(name).length > 0 ? info : info',
    },
    access,
  ),
  seed(
    'a namespace request is not authorized within its own namespace',
    {
      file: 'src/apiserver/http/steps/authorize.ts',
      find: '? { ...info, namespace: info.name } : info',
      replace: '? { ...info } : info',
    },
    access,
  ),
  seed(
    'an impersonated user has no groups',
    {
      file: 'src/apiserver/http/steps/impersonate.ts',
      find: 'if (!said.some((group) => own.includes(group)))',
      replace: 'if (!known && !said.some((group) => own.includes(group)))',
    },
    access,
  ),
  seed(
    'permissions remain after the binding is deleted',
    {
      file: 'src/apiserver/authz/rbac/policy.ts',
      find: '      if (bindings?.size === 0) bound!.delete(role)\n',
      replace: '',
    },
    { test: 'test/apiserver/authz/changes.test.ts', expected: 'deleting any object that grants a permission' },
  ),
  seed(
    'a node agent changes restricted labels',
    {
      file: 'src/apiserver/admission/node-restriction/node-labels.ts',
      find: ')) return true',
      replace: ')) return false',
    },
    {
      test: 'test/apiserver/admission/node-restriction.test.ts',
      expected: 'change a restricted label of its own Node',
    },
  ),
  seed(
    'a node agent changes the owners of its Node',
    {
      file: 'src/apiserver/admission/controls/node-restriction.ts',
      find: "  if (!sameOwners(next, previous)) throw refuse('modify ownerReferences')\n",
      replace: '',
    },
    { test: 'test/apiserver/admission/node-restriction.test.ts', expected: 'change an owner of its own Node' },
  ),
  seed(
    'ephemeral containers are not checked',
    {
      file: 'src/apiserver/admission/pod-security/check.ts',
      find: ', ...ephemeralContainers]',
      replace: ', ...ephemeralContainers.slice(0, 0)]',
    },
    { test: 'test/apiserver/admission/pod-security-checks.test.ts', expected: 'privileged: ephemeralContainers' },
  ),
  seed(
    'a pod security rule takes effect one release too late',
    {
      file: 'src/apiserver/admission/pod-security/evaluate.ts',
      find: 'since <= release',
      replace: 'since < release',
    },
    { test: 'test/apiserver/admission/pod-security-checks.test.ts', expected: 'runAsUser: containers' },
  ),
  seed(
    'ephemeral containers may use any Secret',
    {
      file: 'src/apiserver/admission/controls/service-account.ts',
      find: "if (request.operation === 'UPDATE' && request.subresource === '') return undefined",
      replace: "if (request.operation === 'UPDATE') return undefined",
    },
    {
      test: 'test/apiserver/admission/service-account.test.ts',
      expected: 'an annotated service account restricts its pods',
    },
  ),
  seed(
    'permission to use a policy is not checked',
    {
      file: 'src/apiserver/admission/controls/pod-security-policy.ts',
      find: 'if (isUseless || !(await mayUse(parts, request, policy))) continue',
      replace: 'if (isUseless) continue',
    },
    {
      test: 'test/apiserver/admission/pod-security-policy.test.ts',
      expected: 'the creator of a pod must have permission to use the policy',
    },
  ),
  seed(
    'a worker misses an event',
    {
      file: 'src/storage/store/lmdb/followers.ts',
      find: 'for (const port of this.#pins.keys()) port',
      replace: 'for (const [i, port] of [...this.#pins.keys()].entries()) if (i !== 1 || revision % 7 !== 0) port',
    },
    { ...workers, expected: 'every watch reports concurrent and sequential commits' },
  ),
  seed(
    'a worker treats its cache as the most recent state',
    {
      file: 'src/storage/store/lmdb/worker-store.ts',
      find: 'return this.#shared.revision',
      replace: 'return this.tail.revision',
    },
    { ...workers, expected: 'revision includes a commit before the commit is acknowledged' },
  ),
  seed(
    'a worker keeps serving after it missed changes',
    {
      file: 'src/storage/store/lmdb/worker-store.ts',
      find: 'if (changes[0]?.revision === next) this',
      replace: 'if (changes.length > 0) this',
    },
    { ...workers, expected: 'a worker that missed a change reports an error' },
  ),
  seed(
    'a worker on etcd misses an event',
    {
      file: 'src/storage/store/etcd/hub.ts',
      find: 'for (const port of this.#followers) this',
      replace:
        "for (const [i, port] of [...this.#followers].entries()) if (i !== 1 || message.type !== 'batch' || message.after % 7 !== 0) this",
    },
    { ...etcdWorkers, expected: 'every watch reports commits by all workers' },
  ),
  seed(
    'a worker on etcd treats its cache as the most recent state',
    {
      file: 'src/storage/store/etcd/generation.ts',
      find: 'return this.#settled(await this.#present.ask())',
      replace: 'return this.#changeStream.revision',
    },
    { ...etcdWorkers, expected: 'appears in the revision and feed of all workers' },
  ),
  seed(
    'a worker on etcd keeps serving after it missed changes',
    {
      file: 'src/storage/store/etcd/relayed-changes.ts',
      find: 'if (changeStream.revision === after)',
      replace: 'if (changeStream.revision <= after)',
    },
    { ...etcdWorkers, expected: 'a worker that missed a batch reports an error' },
  ),
]
