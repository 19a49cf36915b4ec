/** CSIDriver: a driver of the Container Storage Interface, and what it needs of those who call it. */

import { type Json, sameJson } from '../../json/json.ts'
import { at, child, duplicate, type FieldError, type FieldPath, notSupported } from '../../model/field-error.ts'
import { ageColumn, type Column, column, nameColumn } from '../../schema/columns.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, type Infer, s } from '../../schema/schema.ts'
import { repeatedAt } from '../core/types/repeated.ts'
import { checkTokenLife } from '../core/types/token-life.ts'
import { immutableField } from '../immutable.ts'

const lifecycleModes = ['Persistent', 'Ephemeral']

const tokenRequest = s.object(
  {
    audience: field(1, s.string(), { zero: 'write', doc: 'The audience of the token; empty: the API server.' }),
    expirationSeconds: field(2, s.int64(), { zero: 'keep', doc: 'How long the token is valid; at least 600.' }),
  },
  {
    name: 'TokenRequest',
    doc: 'A token of the service account of a pod that the driver wants.',
  },
)

const spec = s.object(
  {
    attachRequired: field(1, s.boolean(), {
      zero: 'keep',
      default: true,
      doc: 'Whether a volume must be attached to a node before it is mounted there; true by default.',
    }),
    podInfoOnMount: field(2, s.boolean(), {
      zero: 'keep',
      default: false,
      doc: 'Whether the driver gets information about the pod that it mounts for.',
    }),
    volumeLifecycleModes: field(3, s.list(s.string(), { list: 'set' }), {
      doc: 'What volumes it can make: Persistent, the default, and Ephemeral, which live with a pod.',
    }),
    storageCapacity: field(4, s.boolean(), {
      zero: 'keep',
      default: false,
      doc: 'Whether it reports how much storage is left, and the scheduler is to heed that.',
    }),
    fsGroupPolicy: field(5, s.oneOf('File', 'None', 'ReadWriteOnceWithFSType'), {
      zero: 'keep',
      default: 'ReadWriteOnceWithFSType',
      doc: "Whether the group of the pod becomes the owner of a volume's files: ReadWriteOnceWithFSType, File or None.",
    }),
    tokenRequests: field(6, s.list(tokenRequest), {
      doc: "The tokens of the pod's service account that the driver receives when it mounts.",
    }),
    requiresRepublish: field(7, s.boolean(), {
      zero: 'keep',
      default: false,
      doc: 'Whether it is called again and again to bring a mounted volume up to date.',
    }),
  },
  {
    name: 'CSIDriverSpec',
    doc: 'What a driver can do and what it needs.',
    fill: (value) => {
      if (value.volumeLifecycleModes === undefined || value.volumeLifecycleModes.length === 0)
        value.volumeLifecycleModes = ['Persistent']
    },
    check: ({ volumeLifecycleModes: modes = [], tokenRequests = [] }, path) => [
      ...checkModes(modes, child(path, 'volumeLifecycleModes')),
      ...checkTokenRequests(tokenRequests, child(path, 'tokenRequests')),
    ],
  },
)

const fields = {
  spec: field(2, spec, { zero: 'write', published: 'required', doc: 'What it can do and what it needs.' }),
}

export type CSIDriver = ObjectOf<typeof fields>
type Spec = Infer<typeof spec>

const flag = (name: string, doc: string, of: (spec: Spec) => boolean | undefined): Column<CSIDriver> => ({
  ...column(name, doc, ({ spec }: CSIDriver) => of(spec ?? {}) ?? false),
  type: 'boolean',
})

export const csiDriver = defineKind({
  names: {
    group: 'storage',
    version: 'v1',
    kind: 'CSIDriver',
    plural: 'csidrivers',
    scope: 'Cluster',
  },
  doc: 'A driver of the Container Storage Interface: its name is that of the object.',
  fields,
  rules: {
    prepareForUpdate: countChanges,
    validateUpdate: ({ spec: next = {} }, { spec: previous = {} }) =>
      (['attachRequired', 'fsGroupPolicy', 'podInfoOnMount', 'volumeLifecycleModes'] as const).flatMap((name) =>
        immutableField(child('spec', name), next[name], previous[name]),
      ),
  },
  life: {
    needsVersion: true,
    deleteAnswers: 'object',
  },
  views: {
    columns: [
      nameColumn,
      flag(
        'AttachRequired',
        'Whether its volumes are attached before they are mounted.',
        (spec) => spec.attachRequired,
      ),
      flag(
        'PodInfoOnMount',
        'Whether it gets information about the pod that it mounts for.',
        (spec) => spec.podInfoOnMount,
      ),
      flag('StorageCapacity', 'Whether it reports how much storage is left.', (spec) => spec.storageCapacity),
      column('TokenRequests', 'Whom the tokens are for that it is given.', ({ spec }: CSIDriver) =>
        spec?.tokenRequests === undefined ? '<unset>' : spec.tokenRequests.map(({ audience = '' }) => audience).join(),
      ),
      flag('RequiresRepublish', 'Whether it is called again and again.', (spec) => spec.requiresRepublish),
      column(
        'Modes',
        'What volumes it can make.',
        ({ spec }: CSIDriver) => spec?.volumeLifecycleModes?.join() || '<none>',
      ),
      ageColumn,
    ],
  },
})

/** Only what nodes must hear of counts, from none. */
function countChanges(next: CSIDriver, previous: CSIDriver): void {
  const asked = ({ spec }: CSIDriver) => [spec?.tokenRequests ?? [], spec?.requiresRepublish ?? false] as Json
  if (sameJson(asked(next), asked(previous))) return
  next.metadata.generation = (previous.metadata.generation ?? 0) + 1
}

function checkModes(modes: readonly string[], path: FieldPath): FieldError[] {
  return modes.filter((mode) => !lifecycleModes.includes(mode)).map((mode) => notSupported(path, mode, lifecycleModes))
}

/** Of one whose audience has its token already nothing else is judged. */
function checkTokenRequests(requests: readonly Infer<typeof tokenRequest>[], path: FieldPath): FieldError[] {
  const repeated = repeatedAt(requests.map(({ audience = '' }) => audience))
  return requests.flatMap(({ audience = '', expirationSeconds }, i) =>
    repeated.has(i)
      ? [duplicate(child(at(path, i), 'audience'), audience)]
      : checkTokenLife(expirationSeconds, child(at(path, i), 'expirationSeconds')),
  )
}
