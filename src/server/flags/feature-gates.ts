/** `--feature-gates`: pairs such as `APIListChunking=false`. AllAlpha and AllBeta set all gates of a stage. */

import {
  defaultGates,
  type FeatureGate,
  featureGateNames,
  featureGates,
  type Gates,
} from '../../api/model/feature-gates.ts'
import { closestMatch, UsageError } from '../../base/flags/flags.ts'
import { readPairs } from './pairs.ts'

const stages: { readonly [name: string]: 'alpha' | 'beta' } = { AllAlpha: 'alpha', AllBeta: 'beta' }

/** Parses feature gates. A gate overrides its stage, whatever their order. */
export function readFeatureGates(text: string): Gates {
  const pairs = [...readPairs(text)]
  const named = pairs.filter(([name]) => !isStage(name))
  const staged = pairs.filter(([name]) => isStage(name))
  const states = new Map<FeatureGate, boolean>([
    ...featureGateNames.map((gate) => [gate, defaultGates.has(gate)] as const),
    ...staged.flatMap(([name, on]) => gatesOf(stages[name]!).map((gate) => [gate, on] as const)),
    ...named.map(([name, on]) => [findGate(name), on] as const),
  ])
  return new Set([...states].filter(([, on]) => on).map(([gate]) => gate))
}

function isStage(name: string): boolean {
  return Object.hasOwn(stages, name)
}

function gatesOf(stage: 'alpha' | 'beta'): FeatureGate[] {
  return featureGateNames.filter((name) => featureGates[name].stage === stage)
}

function findGate(name: string): FeatureGate {
  const known = featureGateNames.find((gate) => gate === name)
  if (known !== undefined) return known
  const hint = closestMatch(name, featureGateNames)
  throw new UsageError(
    `unknown feature gate ${JSON.stringify(name)}${hint === undefined ? '.' : `; did you mean ${hint}?`} Known are ${[...featureGateNames, ...Object.keys(stages)].join(', ')}`,
  )
}

/** Descriptions of all feature gates, for the help. */
export const featureGateHelp = featureGateNames
  .map(
    (name) =>
      `${name} (${featureGates[name].stage}, ${featureGates[name].on ? 'on' : 'off'}): ${featureGates[name].doc}`,
  )
  .join('; ')
