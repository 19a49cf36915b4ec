/** `--feature-gates`: pairs such as `APIListChunking=false`; AllAlpha and AllBeta stand for all gates of a stage. */
import { nearest, UsageError } from '../base/flags.ts'
import { defaultGates, type FeatureGate, featureGateNames, featureGates, type Gates } from '../model/feature-gates.ts'
import { readPairs } from './pairs.ts'

const stages: { readonly [name: string]: 'alpha' | 'beta' } = { AllAlpha: 'alpha', AllBeta: 'beta' }

/** A gate that is named counts before its stage, in whichever order they are given. */
export function readFeatureGates(text: string): Gates {
  const pairs = readPairs(text)
  const gates = new Set(defaultGates)
  for (const [name, on] of pairs) if (Object.hasOwn(stages, name)) setAll(gates, stages[name]!, on)
  for (const [name, on] of pairs) if (!Object.hasOwn(stages, name)) set(gates, findGate(name), on)
  return gates
}

function findGate(name: string): FeatureGate {
  const known = featureGateNames.find((gate) => gate === name)
  if (known !== undefined) return known
  const hint = nearest(name, featureGateNames)
  throw new UsageError(
    `unknown feature gate ${JSON.stringify(name)}${hint === undefined ? '' : `; did you mean ${hint}?`} Known are ${[...featureGateNames, ...Object.keys(stages)].join(', ')}`,
  )
}

function setAll(gates: Set<FeatureGate>, stage: 'alpha' | 'beta', on: boolean): void {
  for (const name of featureGateNames) if (featureGates[name].stage === stage) set(gates, name, on)
}

function set(gates: Set<FeatureGate>, name: FeatureGate, on: boolean): void {
  if (on) gates.add(name)
  else gates.delete(name)
}

/** The gates as the help lists them. */
export const featureGateHelp = featureGateNames
  .map(
    (name) =>
      `${name} (${featureGates[name].stage}, ${featureGates[name].on ? 'on' : 'off'}): ${featureGates[name].doc}`,
  )
  .join('; ')
