/**
 * A LeaseCandidate represents a process that can be elected as the holder of a Lease. It contains the versions that the
 * election compares.
 */
import { child, type FieldError, type FieldPath, invalid, required } from '../../model/field-error.ts'
import { compareReleases, isSemanticVersion } from '../../model/semantic-version.ts'
import { ageColumn, column, nameColumn } from '../../schema/columns.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { immutableField } from '../immutable.ts'
import { checkStrategy } from './strategy.ts'

const specFields = {
  leaseName: field(1, s.string(), {
    zeroValue: 'write',
    doc: 'Name of the Lease that the candidate can hold. Immutable.',
  }),
  pingTime: field(2, s.microTime(), { doc: 'Time when the server last asked the candidate to renew this object.' }),
  renewTime: field(3, s.microTime(), { doc: 'Time when the candidate last renewed this object.' }),
  binaryVersion: field(4, s.string(), { zeroValue: 'write', doc: 'Semantic version of the candidate.' }),
  emulationVersion: field(5, s.string(), { doc: 'Semantic version that the candidate emulates.' }),
  strategy: field(6, s.string(), {
    zeroValue: 'write',
    doc: 'Strategy for choosing the leader among the candidates, such as `OldestEmulationVersion`.',
  }),
}

const spec = s.object(specFields, {
  name: 'LeaseCandidateSpec',
  doc: 'Specification of a LeaseCandidate.',
  check: checkSpec,
})

const fields = {
  spec: field(2, spec, {
    zeroValue: 'write',
    published: 'required',
    doc: 'Lease for which the process is a candidate, and the versions of the process.',
  }),
}

export type LeaseCandidate = ObjectOf<typeof fields>

export const leaseCandidate = defineKind({
  names: {
    group: 'coordination',
    version: 'v1beta1',
    kind: 'LeaseCandidate',
    plural: 'leasecandidates',
    scope: 'Namespaced',
  },
  since: '1.33',
  gate: 'CoordinatedLeaderElection',
  optIn: true,
  deprecated: { since: '1.36', removal: '1.39' },
  doc: 'A process that is a candidate for holding a Lease.',
  fields,
  rules: {
    validateUpdate: ({ spec: next }, { spec: previous }) =>
      immutableField('spec.leaseName', next?.leaseName, previous?.leaseName),
  },
  lifecycle: { createOnUpdate: true },
  views: {
    columns: [
      nameColumn,
      column('LeaseName', 'Name of the Lease.', ({ spec }: LeaseCandidate) => spec?.leaseName ?? ''),
      column('BinaryVersion', 'Version of the candidate.', ({ spec }: LeaseCandidate) => spec?.binaryVersion ?? ''),
      column(
        'EmulationVersion',
        'Version that the candidate emulates.',
        ({ spec }: LeaseCandidate) => spec?.emulationVersion ?? '',
      ),
      ageColumn,
    ],
    selectable: ({ spec }) => ({ 'spec.leaseName': spec?.leaseName ?? '' }),
  },
})

function checkSpec(value: InferFields<typeof specFields>, path: FieldPath): FieldError[] {
  const { leaseName = '', binaryVersion = '', emulationVersion = '', strategy = '' } = value
  return [
    ...(leaseName === '' ? [required(child(path, 'leaseName'))] : []),
    ...checkVersion(binaryVersion, child(path, 'binaryVersion')),
    ...(emulationVersion === '' && strategy !== oldestFirst
      ? []
      : checkVersion(emulationVersion, child(path, 'emulationVersion'))),
    ...(strategy === '' ? [required(child(path, 'strategy'))] : checkStrategy(strategy, child(path, 'strategy'))),
    ...checkOrder(value, path),
  ]
}

/** The election strategy that requires an emulated version from each candidate. */
const oldestFirst = 'OldestEmulationVersion'

function checkVersion(text: string, path: FieldPath): FieldError[] {
  if (text === '') return [required(path)]
  return isSemanticVersion(text) ? [] : [invalid(path, text, 'must be a valid semantic version')]
}

/** Requires the emulated version of a candidate to be no later than its binary version. */
function checkOrder({ binaryVersion = '', emulationVersion = '' }: InferFields<typeof specFields>, path: FieldPath) {
  if (!isSemanticVersion(binaryVersion) || !isSemanticVersion(emulationVersion)) return []
  return compareReleases(emulationVersion, binaryVersion) > 0
    ? [invalid(child(path, 'binaryVersion'), binaryVersion, 'must be at least `emulationVersion`')]
    : []
}
