/**
 * Types shared by all groups, except object metadata: lists and list metadata, Status, delete options, watch events and
 * discovery responses. None of them is stored.
 */
import { field, type ObjectSchema, s } from './schema.ts'
import { typeMeta } from './type-meta.ts'

export const listMeta = s.object(
  {
    selfLink: field(1, s.string(), { doc: 'Deprecated. The server never sets this field.' }),
    resourceVersion: field(2, s.string(), {
      doc: 'Version of the list. Pass it to a watch to receive later changes.',
    }),
    continue: field(3, s.string(), { doc: 'Token for requesting the next page. Empty on the last page.' }),
    remainingItemCount: field(4, s.int64(), {
      zeroValue: 'keep',
      doc: 'Number of items that remain after this page. Unset on the last page and for lists with selectors.',
    }),
  },
  { name: 'meta.v1.ListMeta', doc: 'Metadata of a list.' },
)

interface ListedKind {
  readonly kind: string
  readonly listKind?: string
  readonly schema: ObjectSchema
}

/** Returns the schema of a kind's lists. A GET of a collection returns such a list. */
export function listOf({ kind, schema, listKind = `${kind}List` }: ListedKind): ObjectSchema {
  return s.object(
    {
      ...typeMeta,
      metadata: field(1, listMeta, { zeroValue: 'write', doc: 'Resource version and continue token of the list.' }),
      items: field(2, s.list(schema, { unmarked: true }), {
        required: true,
        zeroValue: 'write',
        doc: 'Objects in the list, sorted by name.',
      }),
    },
    { name: listKind, doc: `A list of ${kind} objects.` },
  )
}

const statusCause = s.object(
  {
    reason: field(1, s.string(), { doc: 'Machine-readable cause of the error.' }),
    message: field(2, s.string(), { doc: 'Human-readable description of the cause.' }),
    field: field(3, s.string(), {
      doc: 'Path of the invalid field, such as `metadata.name` or `items[0].name`.',
    }),
  },
  { name: 'meta.v1.StatusCause', doc: 'A single cause of a failed request.' },
)

const statusDetails = s.object(
  {
    name: field(1, s.string(), { doc: 'Name of the object.' }),
    group: field(2, s.string(), { doc: 'API group of the object.' }),
    kind: field(3, s.string(), { doc: 'Kind of the object, or its resource type.' }),
    uid: field(6, s.string(), { doc: 'UID of the object.' }),
    causes: field(4, s.list(statusCause), { doc: 'Causes of the failure.' }),
    retryAfterSeconds: field(5, s.int32(), { doc: 'Number of seconds to wait before retrying.' }),
  },
  { name: 'meta.v1.StatusDetails', doc: 'Object and causes to which a Status refers.' },
)

export const status = s.object(
  {
    ...typeMeta,
    metadata: field(1, listMeta, {
      zeroValue: 'write',
      doc: 'List metadata. Empty except for the continue token of an expired list.',
    }),
    status: field(2, s.string(), { doc: 'Outcome of the request: `Success` or `Failure`.' }),
    message: field(3, s.string(), { doc: 'Human-readable description of the outcome.' }),
    reason: field(4, s.string(), { doc: 'Machine-readable reason for the failure.' }),
    details: field(5, statusDetails, { doc: 'Object and fields to which the status refers.' }),
    code: field(6, s.int32(), { doc: 'HTTP status code of the response.' }),
  },
  {
    name: 'meta.v1.Status',
    doc: 'Response to requests that return no object: success, or the reason for the failure.',
  },
)

const preconditions = s.object(
  {
    uid: field(1, s.string(), { zeroValue: 'keep', doc: 'UID that the object must have.' }),
    resourceVersion: field(2, s.string(), {
      zeroValue: 'keep',
      doc: 'Resource version that the object must have.',
    }),
  },
  { name: 'meta.v1.Preconditions', doc: 'Preconditions for a request. If any fails, the response is 409 Conflict.' },
)

export const deleteOptions = s.object(
  {
    ...typeMeta,
    gracePeriodSeconds: field(1, s.int64(), {
      zeroValue: 'keep',
      doc: 'Grace period in seconds before the object is deleted. 0 means immediate deletion.',
    }),
    preconditions: field(2, preconditions, {
      doc: 'Preconditions for the deletion. If any fails, the response is 409 Conflict.',
    }),
    orphanDependents: field(3, s.boolean(), {
      zeroValue: 'keep',
      doc: 'Deprecated: use propagationPolicy. True means `Orphan`, false means `Background`.',
    }),
    propagationPolicy: field(4, s.string(), {
      zeroValue: 'keep',
      doc: 'Handling of dependents: `Orphan` keeps them, `Background` deletes them after the object, and `Foreground` deletes them before the object.',
    }),
    dryRun: field(5, s.list(s.string()), { doc: 'If set to `All`, the request is validated but nothing is deleted.' }),
  },
  { name: 'meta.v1.DeleteOptions', doc: 'Options for a delete request.' },
)

/** Schema for the body of patch requests in published API descriptions. */
export const patch = s.any({
  name: 'meta.v1.Patch',
  doc: 'A change to an object in the format that the content type specifies.',
})

const rawExtension = s.any({ name: 'runtime.RawExtension', doc: 'An object of any kind.' })

export const watchEvent = s.object(
  {
    type: field(1, s.string(), {
      required: true,
      doc: 'Type of the event: `ADDED`, `MODIFIED`, `DELETED`, `BOOKMARK` or `ERROR`.',
    }),
    object: field(2, rawExtension, {
      required: true,
      doc: 'Object after the change, or its last state if it was deleted. A Status if the type is `ERROR`, and an object with only a resource version if the type is `BOOKMARK`.',
    }),
  },
  { name: 'meta.v1.WatchEvent', doc: 'A watch event.' },
)

const serverAddress = s.object(
  {
    clientCIDR: field(1, s.string(), { zeroValue: 'write', doc: 'IP range of the clients, in CIDR notation.' }),
    serverAddress: field(2, s.string(), {
      zeroValue: 'write',
      doc: 'Address of the server for these clients: host, or host and port.',
    }),
  },
  { name: 'meta.v1.ServerAddressByClientCIDR', doc: 'Address of the server for clients in an IP range.' },
)

const groupVersion = s.object(
  {
    groupVersion: field(1, s.string(), { zeroValue: 'write', doc: 'Group and version in apiVersion format.' }),
    version: field(2, s.string(), { zeroValue: 'write', doc: 'Version without the group.' }),
  },
  { name: 'meta.v1.GroupVersionForDiscovery', doc: 'A version of an API group.' },
)

export const apiGroup = s.object(
  {
    ...typeMeta,
    name: field(1, s.string(), { zeroValue: 'write', doc: 'Name of the API group.' }),
    versions: field(2, s.list(groupVersion), { zeroValue: 'write', doc: 'Served versions of the group.' }),
    preferredVersion: field(3, groupVersion, { doc: 'Recommended version of the group.' }),
    serverAddressByClientCIDRs: field(4, s.list(serverAddress), {
      doc: 'Addresses of the server, by client IP range.',
    }),
  },
  { name: 'meta.v1.APIGroup', doc: 'An API group and its versions.' },
)

export const apiGroupList = s.object(
  {
    ...typeMeta,
    groups: field(1, s.list(apiGroup), { zeroValue: 'write', doc: 'API groups, except the core group.' }),
  },
  { name: 'meta.v1.APIGroupList', doc: 'A list of all API groups except the core group.' },
)

export const apiVersions = s.object(
  {
    ...typeMeta,
    versions: field(1, s.list(s.string()), { zeroValue: 'write', doc: 'Versions of the core group.' }),
    serverAddressByClientCIDRs: field(2, s.list(serverAddress), {
      zeroValue: 'write',
      doc: 'Addresses of the server, by client IP range.',
    }),
  },
  { name: 'meta.v1.APIVersions', doc: 'Versions of the core API group.' },
)

const apiResource = s.object(
  {
    name: field(1, s.string(), {
      zeroValue: 'write',
      doc: 'Plural name of the resource type, as in URL paths. A subresource follows after a slash.',
    }),
    singularName: field(6, s.string(), { zeroValue: 'write', doc: 'Singular name of the resource type, for display.' }),
    namespaced: field(2, s.boolean(), { zeroValue: 'write', doc: 'Whether the resource type is namespaced.' }),
    group: field(8, s.string(), { doc: 'API group of the kind, if it differs from that of the list.' }),
    version: field(9, s.string(), { doc: 'Version of the kind, if it differs from that of the list.' }),
    kind: field(3, s.string(), { zeroValue: 'write', doc: 'Kind of the objects.' }),
    verbs: field(4, s.list(s.string(), { wrapped: true }), {
      zeroValue: 'write',
      doc: 'Verbs that the resource type supports.',
    }),
    shortNames: field(5, s.list(s.string()), { doc: 'Short names for the command line.' }),
    categories: field(7, s.list(s.string()), { doc: 'Categories that include the resource type, such as `all`.' }),
    storageVersionHash: field(10, s.string(), {
      doc: 'Hash of the storage version. A changed hash indicates a different storage version.',
    }),
  },
  { name: 'meta.v1.APIResource', doc: 'A served resource type or subresource.' },
)

export const apiResourceList = s.object(
  {
    ...typeMeta,
    groupVersion: field(1, s.string(), { zeroValue: 'write', doc: 'Group and version of the resource types.' }),
    resources: field(2, s.list(apiResource), { zeroValue: 'write', doc: 'Resource types in the group version.' }),
  },
  { name: 'meta.v1.APIResourceList', doc: 'Resource types in one API group version.' },
)

const always = (doc: string) => field(0, s.string(), { zeroValue: 'write', doc })

/**
 * Creates a field of the version information. Kubernetes introduced these fields in 1.33, together with its own version
 * emulation.
 */
const sinceEmulation = (doc: string) => field(0, s.string(), { since: '1.33', doc })

export const versionInfo = s.object(
  {
    major: always('Major version of the API level.'),
    minor: always('Minor version of the API level.'),
    emulationMajor: sinceEmulation('Major version that the server emulates.'),
    emulationMinor: sinceEmulation('Minor version that the server emulates.'),
    minCompatibilityMajor: sinceEmulation('Major version of the oldest servers that may share the store.'),
    minCompatibilityMinor: sinceEmulation('Minor version of the oldest servers that may share the store.'),
    gitVersion: always('API level, followed by the version of the server.'),
    gitCommit: always('Git commit from which the server was built.'),
    gitTreeState: always('Whether the build matched the commit exactly (`clean`).'),
    buildDate: always('Time of the build.'),
    goVersion: always('Version of the language runtime.'),
    compiler: always('Engine that runs the server.'),
    platform: always('Operating system and processor architecture.'),
  },
  { name: 'version.Info', doc: 'Version information about the server.' },
)
