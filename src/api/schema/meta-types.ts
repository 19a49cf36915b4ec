/**
 * The types that all groups share beside the metadata of an object: lists and their metadata, the answer Status, the
 * options of a delete, the events of a watch, and what discovery answers with. None of them is stored.
 */
import { field, type ObjectSchema, s } from './schema.ts'
import { typeMeta } from './type-meta.ts'

export const listMeta = s.object(
  {
    selfLink: field(1, s.string(), { doc: 'No longer filled in.' }),
    resourceVersion: field(2, s.string(), {
      doc: 'The version at which the list was made; a watch can start from it.',
    }),
    continue: field(3, s.string(), { doc: 'Sent back as `continue` it yields the next part; empty at the end.' }),
    remainingItemCount: field(4, s.int64(), {
      zero: 'keep',
      doc: 'How many items are left after this part; unknown when a selector was used.',
    }),
  },
  { name: 'meta.v1.ListMeta', doc: 'What every list has beside its items.' },
)

interface ListedKind {
  readonly kind: string
  readonly listKind?: string
  readonly schema: ObjectSchema
}

/** The list of a kind: what a GET of its collection answers with. */
export function listOf({ kind, schema, listKind = `${kind}List` }: ListedKind): ObjectSchema {
  return s.object(
    {
      ...typeMeta,
      metadata: field(1, listMeta, { zero: 'write', doc: 'The version of the list and where it goes on.' }),
      items: field(2, s.list(schema), {
        required: true,
        zero: 'write',
        doc: 'The objects, in the order of their names.',
      }),
    },
    { name: listKind, doc: `A list of objects of the kind ${kind}.` },
  )
}

const statusCause = s.object(
  {
    reason: field(1, s.string(), { doc: 'What is wrong, in one word for programs.' }),
    message: field(2, s.string(), { doc: 'What is wrong, for people.' }),
    field: field(3, s.string(), {
      doc: 'The field it is about, as a path such as `metadata.name` or `items[0].name`.',
    }),
  },
  { name: 'meta.v1.StatusCause', doc: 'One thing that was wrong with a request.' },
)

const statusDetails = s.object(
  {
    name: field(1, s.string(), { doc: 'The name of the object.' }),
    group: field(2, s.string(), { doc: 'The group of the object.' }),
    kind: field(3, s.string(), { doc: 'The kind of the object, or its resource type.' }),
    uid: field(6, s.string(), { doc: 'The uid of the object.' }),
    causes: field(4, s.list(statusCause), { doc: 'All that was wrong.' }),
    retryAfterSeconds: field(5, s.int32(), { doc: 'When it is worth trying again.' }),
  },
  { name: 'meta.v1.StatusDetails', doc: 'What an answer is about.' },
)

export const status = s.object(
  {
    ...typeMeta,
    metadata: field(1, listMeta, {
      zero: 'write',
      doc: 'Empty, but for a place to continue from where a list broke off.',
    }),
    status: field(2, s.string(), { doc: 'Success or Failure.' }),
    message: field(3, s.string(), { doc: 'What happened, for people.' }),
    reason: field(4, s.string(), { doc: 'Why it failed, in one word for programs.' }),
    details: field(5, statusDetails, { doc: 'The object and the fields that it is about.' }),
    code: field(6, s.int32(), { doc: 'The HTTP status code.' }),
  },
  { name: 'meta.v1.Status', doc: 'The answer where there is no object to answer with: what was done, or why not.' },
)

const preconditions = s.object(
  {
    uid: field(1, s.string(), { zero: 'keep', doc: 'Delete only the object with this uid.' }),
    resourceVersion: field(2, s.string(), { zero: 'keep', doc: 'Delete only while the object has this version.' }),
  },
  { name: 'meta.v1.Preconditions', doc: 'Conditions that must hold for the request to be executed.' },
)

export const deleteOptions = s.object(
  {
    ...typeMeta,
    gracePeriodSeconds: field(1, s.int64(), { zero: 'keep', doc: 'How long the object may take to end; 0: none.' }),
    preconditions: field(2, preconditions, { doc: 'What must hold, or the answer is 409.' }),
    orphanDependents: field(3, s.boolean(), {
      zero: 'keep',
      doc: 'An older way to say propagationPolicy: true is Orphan, false is Background.',
    }),
    propagationPolicy: field(4, s.string(), {
      zero: 'keep',
      doc: 'What happens to the objects that this one owns: Orphan keeps them, Background deletes them afterwards, Foreground before.',
    }),
    dryRun: field(5, s.list(s.string()), { doc: 'With `All`, everything is checked and nothing is deleted.' }),
  },
  { name: 'meta.v1.DeleteOptions', doc: 'How to delete.' },
)

/** The published type of patches. */
export const patch = s.any({
  name: 'meta.v1.Patch',
  doc: 'A change to an object, in the form that the content type names.',
})

const rawExtension = s.any({ name: 'runtime.RawExtension', doc: 'An object of any kind.' })

export const watchEvent = s.object(
  {
    type: field(1, s.string(), { required: true, doc: 'ADDED, MODIFIED, DELETED, BOOKMARK or ERROR.' }),
    object: field(2, rawExtension, {
      required: true,
      doc: 'The object after the change, or as it was last; for an ERROR a Status, for a BOOKMARK only a version.',
    }),
  },
  { name: 'meta.v1.WatchEvent', doc: 'One event of a watch.' },
)

const serverAddress = s.object(
  {
    clientCIDR: field(1, s.string(), { zero: 'write', doc: 'The addresses of the clients that this is for.' }),
    serverAddress: field(2, s.string(), {
      zero: 'write',
      doc: 'Where they find the server: a host, or host and port.',
    }),
  },
  { name: 'meta.v1.ServerAddressByClientCIDR', doc: 'The address of the server as certain clients see it.' },
)

const groupVersion = s.object(
  {
    groupVersion: field(1, s.string(), { zero: 'write', doc: 'Group and version as apiVersion writes them.' }),
    version: field(2, s.string(), { zero: 'write', doc: 'The version alone.' }),
  },
  { name: 'meta.v1.GroupVersionForDiscovery', doc: 'A version of a group.' },
)

export const apiGroup = s.object(
  {
    ...typeMeta,
    name: field(1, s.string(), { zero: 'write', doc: 'The name of the group.' }),
    versions: field(2, s.list(groupVersion), { zero: 'write', doc: 'The versions of the group that are served.' }),
    preferredVersion: field(3, groupVersion, { doc: 'The version to use if nothing speaks for another.' }),
    serverAddressByClientCIDRs: field(4, s.list(serverAddress), { doc: 'Where clients find the server.' }),
  },
  { name: 'meta.v1.APIGroup', doc: 'A group of kinds and its versions.' },
)

export const apiGroupList = s.object(
  { ...typeMeta, groups: field(1, s.list(apiGroup), { zero: 'write', doc: 'The groups.' }) },
  { name: 'meta.v1.APIGroupList', doc: 'All groups but the core group.' },
)

export const apiVersions = s.object(
  {
    ...typeMeta,
    versions: field(1, s.list(s.string()), { zero: 'write', doc: 'The versions of the core group.' }),
    serverAddressByClientCIDRs: field(2, s.list(serverAddress), {
      zero: 'write',
      doc: 'Where clients find the server.',
    }),
  },
  { name: 'meta.v1.APIVersions', doc: 'The versions of the core group.' },
)

const apiResource = s.object(
  {
    name: field(1, s.string(), { zero: 'write', doc: 'The resource type as in paths, a subresource after a slash.' }),
    singularName: field(6, s.string(), { zero: 'write', doc: 'Its singular, for people.' }),
    namespaced: field(2, s.boolean(), { zero: 'write', doc: 'Whether its objects live in namespaces.' }),
    group: field(8, s.string(), { doc: 'The group of its kind, where that is another one.' }),
    version: field(9, s.string(), { doc: 'The version of its kind, where that is another one.' }),
    kind: field(3, s.string(), { zero: 'write', doc: 'The kind of its objects.' }),
    verbs: field(4, s.list(s.string(), { wrapped: true }), { zero: 'write', doc: 'What can be done with it.' }),
    shortNames: field(5, s.list(s.string()), { doc: 'Short forms of its name for the command line.' }),
    categories: field(7, s.list(s.string()), { doc: 'Names that stand for several resource types, such as `all`.' }),
    storageVersionHash: field(10, s.string(), { doc: 'Tells by change that objects are stored in another version.' }),
  },
  { name: 'meta.v1.APIResource', doc: 'A resource type that is served, or a subresource.' },
)

export const apiResourceList = s.object(
  {
    ...typeMeta,
    groupVersion: field(1, s.string(), { zero: 'write', doc: 'The group and version of the resource types.' }),
    resources: field(2, s.list(apiResource), { zero: 'write', doc: 'The resource types.' }),
  },
  { name: 'meta.v1.APIResourceList', doc: 'The resource types of one version of a group.' },
)

const always = (doc: string) => field(0, s.string(), { zero: 'write', doc })

export const versionInfo = s.object(
  {
    major: always('The first number of the API level.'),
    minor: always('The second number of the API level.'),
    gitVersion: always('The API level, and the version of the server after it.'),
    gitCommit: always('The commit that the server was built from.'),
    gitTreeState: always('Whether that was exactly the commit.'),
    buildDate: always('When it was built.'),
    goVersion: always('The runtime.'),
    compiler: always('The engine.'),
    platform: always('Operating system and processor.'),
  },
  { name: 'version.Info', doc: 'What the server is.' },
)
