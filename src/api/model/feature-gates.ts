/**
 * Feature gates: what `--feature-gates` can turn on or off, under the names of Kubernetes. A gate is listed here when
 * something asks for it, and not before; rules find those that are on in their context.
 */
import { keysOf } from '../json/json.ts'

export interface FeatureGateFacts {
  readonly on: boolean
  readonly stage: 'alpha' | 'beta'
  /** What is different when it is on. */
  readonly doc: string
}

/** Features that can be turned on and off, with their defaults. */
export const featureGates = {
  AnyVolumeDataSource: { on: false, stage: 'alpha', doc: 'a claim may start with the content of any object' },
  APIListChunking: { on: true, stage: 'beta', doc: 'lists may be asked for in parts, with limit and continue' },
  CustomResourceValidationExpressions: {
    on: true,
    stage: 'beta',
    doc: 'rules in CEL that the schemas of custom kinds have are enforced',
  },
  RecoverVolumeExpansionFailure: {
    on: false,
    stage: 'alpha',
    doc: 'a claim that could not grow may ask for less again',
  },
} as const satisfies { readonly [name: string]: FeatureGateFacts }

/** The name of a feature. */
export type FeatureGate = keyof typeof featureGates

/** The gates that are on. */
export type Gates = ReadonlySet<FeatureGate>

/** The names of all features. */
export const featureGateNames = keysOf(featureGates)

/** The features that are on unless flags say otherwise. */
export const defaultGates: Gates = new Set(featureGateNames.filter((name) => featureGates[name].on))
