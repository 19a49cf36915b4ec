/**
 * Feature gates: the features that `--feature-gates` can enable or disable, under their Kubernetes names. A gate is
 * listed here only once code uses it. Rules find the enabled gates in their context.
 */
import { keysOf } from '../json/json.ts'

export interface FeatureGateFacts {
  readonly on: boolean
  readonly stage: 'alpha' | 'beta'
  /** The effect of enabling the feature. */
  readonly doc: string
}

/** The features that can be enabled and disabled, with their defaults. */
export const featureGates = {
  AnyVolumeDataSource: { on: false, stage: 'alpha', doc: 'claims can be populated from objects of any kind' },
  APIListChunking: { on: true, stage: 'beta', doc: 'lists can be requested in pages with limit and continue' },
  CustomResourceValidationExpressions: {
    on: true,
    stage: 'beta',
    doc: 'CEL rules in the schemas of custom resources are enforced',
  },
  RecoverVolumeExpansionFailure: {
    on: false,
    stage: 'alpha',
    doc: 'a claim whose expansion failed can request less storage',
  },
} as const satisfies { readonly [name: string]: FeatureGateFacts }

/** The name of a feature. */
export type FeatureGate = keyof typeof featureGates

/** The enabled gates. */
export type Gates = ReadonlySet<FeatureGate>

/** The names of all features. */
export const featureGateNames = keysOf(featureGates)

/** The features that are enabled by default. */
export const defaultGates: Gates = new Set(featureGateNames.filter((name) => featureGates[name].on))
