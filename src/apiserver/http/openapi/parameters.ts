/** The parameters of paths and queries, and which verb takes which: the tables of standard operations. */

export interface Parameter {
  readonly type: 'string' | 'integer' | 'boolean'
  readonly doc: string
}

const selectors = {
  fieldSelector: {
    type: 'string',
    doc: 'Restricts the list of returned objects by their fields, as `metadata.name=a,status.phase!=b`; each kind says which fields.',
  },
  labelSelector: {
    type: 'string',
    doc: 'Restricts the list of returned objects by their labels, as `a=b,c!=d,e in (f,g),h,!i`.',
  },
} satisfies { [name: string]: Parameter }

const paging = {
  continue: { type: 'string', doc: 'The `continue` of the part before: yields the next part of the same list.' },
  limit: { type: 'integer', doc: 'At most so many objects; the rest is had by `continue`.' },
  resourceVersion: {
    type: 'string',
    doc: 'Which state to read: the most recent when unset, any with 0, else one not older than this version.',
  },
  resourceVersionMatch: {
    type: 'string',
    doc: 'How resourceVersion is meant: Exact, or NotOlderThan.',
  },
  timeoutSeconds: { type: 'integer', doc: 'How long the call may last, whatever goes on.' },
} satisfies { [name: string]: Parameter }

const writing = {
  dryRun: { type: 'string', doc: 'With `All`, everything is checked and answered as usual, and nothing is written.' },
  fieldManager: { type: 'string', doc: 'Who writes: the owner of the fields that change. At most 128 bytes.' },
  fieldValidation: {
    type: 'string',
    doc: 'What happens to unknown and repeated fields: Strict refuses, Warn warns (as when unset), Ignore drops them silently.',
  },
} satisfies { [name: string]: Parameter }

/** The options of ways through to pods, nodes and services. */
const connecting = {
  command: { type: 'string', doc: 'The command and each of its arguments, in their order.' },
  container: { type: 'string', doc: 'The container, where the pod has several.' },
  path: { type: 'string', doc: 'The path that is asked for there.' },
  ports: { type: 'integer', doc: 'The ports to forward.' },
  stderr: { type: 'boolean', doc: 'Whether its errors are wanted.' },
  stdin: { type: 'boolean', doc: 'Whether input is sent.' },
  stdout: { type: 'boolean', doc: 'Whether its output is wanted.' },
  tty: { type: 'boolean', doc: 'Whether it is to have a terminal.' },
} satisfies { [name: string]: Parameter }

export const queryParameters = {
  ...connecting,
  ...selectors,
  ...paging,
  ...writing,
  allowWatchBookmarks: {
    type: 'boolean',
    doc: 'A watch may send events of type BOOKMARK, which carry only a version.',
  },
  force: { type: 'boolean', doc: 'Apply only: takes over fields that other managers own.' },
  gracePeriodSeconds: {
    type: 'integer',
    doc: 'How long the object may take to end; 0: none. Unset: as the kind has it.',
  },
  pretty: { type: 'string', doc: 'With `true`, the answer is indented for people.' },
  propagationPolicy: {
    type: 'string',
    doc: 'What happens to the objects that this one owns: Orphan keeps them, Background deletes them afterwards, Foreground before.',
  },
  watch: {
    type: 'boolean',
    doc: 'Watch for changes to the described resources: instead of a list, a stream of its changes from resourceVersion on.',
  },
} satisfies { [name: string]: Parameter }

export type QueryName = keyof typeof queryParameters

export const pathParameters = {
  name: { type: 'string', doc: 'The name of the object.' },
  namespace: { type: 'string', doc: 'The namespace of the object.' },
  path: { type: 'string', doc: 'The path that is asked for there.' },
} satisfies { [name: string]: Parameter }

export type PathName = keyof typeof pathParameters

const list: readonly QueryName[] = [
  'allowWatchBookmarks',
  'continue',
  'fieldSelector',
  'labelSelector',
  'limit',
  'pretty',
  'resourceVersion',
  'resourceVersionMatch',
  'timeoutSeconds',
  'watch',
]

/** What each verb takes in its query, all of it and nothing else. */
export const queryOf = {
  get: ['pretty'],
  list,
  watch: list,
  create: ['dryRun', 'fieldManager', 'fieldValidation', 'pretty'],
  update: ['dryRun', 'fieldManager', 'fieldValidation', 'pretty'],
  patch: ['dryRun', 'fieldManager', 'fieldValidation', 'force', 'pretty'],
  delete: ['dryRun', 'gracePeriodSeconds', 'pretty', 'propagationPolicy'],
  deletecollection: [
    'continue',
    'dryRun',
    'fieldSelector',
    'gracePeriodSeconds',
    'labelSelector',
    'limit',
    'pretty',
    'propagationPolicy',
    'resourceVersion',
    'resourceVersionMatch',
    'timeoutSeconds',
  ],
} satisfies { [verb: string]: readonly QueryName[] }
