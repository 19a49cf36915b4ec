/**
 * Feature gates of the emulated version, under their Kubernetes names: the stage, default and lock of each gate
 * (`gate-facts.ts`), and the set of enabled gates. Rules read the enabled gates from their context.
 */
import { keysOf } from '../json/json.ts'
import { type EmulatedVersion, isAtLeast, type KubeVersion, oldestVersion } from './emulated-version.ts'
import { gateFacts } from './gate-facts.ts'

/** Name of a feature gate of any emulated version. */
export type FeatureGate = keyof typeof gateFacts

/** The set of enabled feature gates. */
export type Gates = ReadonlySet<FeatureGate>

/** Maturity of a feature. */
export type GateStage = 'alpha' | 'beta' | 'stable' | 'deprecated'

/** Stage, default and lock of a feature gate in one version. */
export interface GateState {
  readonly stage: GateStage
  /** Whether the gate is on by default. */
  readonly on: boolean
  /** Whether users cannot change the gate. */
  readonly locked: boolean
}

/** Names of the feature gates of all versions. */
const featureGateNames: readonly FeatureGate[] = keysOf(gateFacts)

/** Whether any version has a gate with the given name. */
export function isFeatureGate(name: string): name is FeatureGate {
  return Object.hasOwn(gateFacts, name)
}

/** Returns the state of a gate, or undefined if the version does not have the gate. */
export function gateState(name: FeatureGate, version: EmulatedVersion): GateState | undefined {
  const state = changesUpTo(name, version).at(-1)
  return state === undefined || state === 'gone' ? undefined : readState(state)
}

/** Returns the states of a gate in all versions up to this one, oldest first. */
function changesUpTo(name: FeatureGate, version: EmulatedVersion): string[] {
  return gateFacts[name]
    .split(' ')
    .map((change) => change.split(':') as [KubeVersion, string])
    .filter(([since]) => isAtLeast(version, since))
    .map(([, state]) => state)
}

const stages: { readonly [letter: string]: GateStage } = { a: 'alpha', b: 'beta', g: 'stable', d: 'deprecated' }

function readState(state: string): GateState {
  return { stage: stages[state[0]!]!, on: state[1] === '+', locked: state[2] === '!' }
}

/** Features that this server always enables, even in versions where Kubernetes disables their gate by default. */
const alwaysOn: readonly FeatureGate[] = ['CustomResourceValidationExpressions']

/**
 * Whether a feature is enabled by default. After the removal of its gate, the last state applies. Before the
 * introduction of its gate, the feature is disabled.
 */
function isOnByDefault(name: FeatureGate, version: EmulatedVersion): boolean {
  if (alwaysOn.includes(name)) return true
  const state = changesUpTo(name, version).findLast((each) => each !== 'gone')
  return state !== undefined && readState(state).on
}

/** Returns the versions in which the default of a gate may differ from the default in the preceding version. */
export function gateChanges(name: FeatureGate): readonly KubeVersion[] {
  return gateFacts[name].split(' ').map((change) => change.split(':')[0] as KubeVersion)
}

const gatesByVersion = new Map<EmulatedVersion, Gates>()

/** Returns the features that a version enables by default. */
export function defaultGatesOf(version: EmulatedVersion): Gates {
  let gates = gatesByVersion.get(version)
  if (gates === undefined) {
    gates = new Set(featureGateNames.filter((name) => isOnByDefault(name, version)))
    gatesByVersion.set(version, gates)
  }
  return gates
}

/**
 * Returns the features that are enabled by default in the oldest version. Intended for code that runs without a server.
 */
export function defaultGates(): Gates {
  return defaultGatesOf(oldestVersion)
}

/** Returns the names of all gates of a version. */
export function gatesIn(version: EmulatedVersion): FeatureGate[] {
  return featureGateNames.filter((name) => gateState(name, version) !== undefined)
}
