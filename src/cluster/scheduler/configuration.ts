/**
 * Reads the configuration of kube-scheduler (KubeSchedulerConfiguration, v1beta2 and v1beta3): profiles with their
 * plugins and arguments, the share of nodes to score, and backoff times. All other fields are rejected with an error
 * that contains their path, so no setting is silently ignored.
 */
import { isObject, type Json, type JsonObject } from '../../api/json/json.ts'
import { groupName, profileNames, vendorOf } from '../../api/model/vendor.ts'
import { allPlugins, type PluginArguments, type WeightedPlugin } from './plugins/all.ts'
import type { ScoringStrategy } from './plugins/node-resources.ts'
import type { SpreadConstraint } from './plugins/pod-topology-spread.ts'
import { type Profile, profileOf } from './profile.ts'
import { defaultTiming, type QueueTiming } from './queue.ts'

/** Thrown for an invalid configuration. The message contains the path of the invalid field. */
class ConfigurationFault extends Error {}

interface Settings {
  readonly profiles: readonly Profile[]
  readonly percentageOfNodes: number
  readonly timing: QueueTiming
}

type Version = 'v1beta2' | 'v1beta3'

/** Reads the configuration. Throws ConfigurationFault for invalid or unsupported fields. */
export function readConfiguration(content: Json): Settings {
  const file = objectAt(content, 'the file')
  const version = versionOf(file)
  const knownFields = ['apiVersion', 'kind', 'profiles', 'percentageOfNodesToScore']
  refuseOthers(file, [...knownFields, 'podInitialBackoffSeconds', 'podMaxBackoffSeconds'], '')
  const profiles = listAt(file.profiles ?? [{}], 'profiles').map((each, i) =>
    readProfile(each, `profiles[${i}]`, version),
  )
  const names = profiles.map(({ schedulerName }) => schedulerName)
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  if (twice !== undefined)
    throw new ConfigurationFault(`profiles: ${JSON.stringify(twice)} is specified more than once`)
  const seconds = (name: string, otherwise: number) => numberAt(file[name] ?? otherwise, name, 3600) * 1000
  const timing = {
    ...defaultTiming,
    firstBackoffMs: seconds('podInitialBackoffSeconds', 1),
    maxBackoffMs: seconds('podMaxBackoffSeconds', 10),
  }
  const percentage = numberAt(file.percentageOfNodesToScore ?? 0, 'percentageOfNodesToScore', 100)
  return { profiles, percentageOfNodes: percentage, timing }
}

/**
 * Returns the version of the configuration. Accepts the API group of either vendor, because the file is not submitted
 * to the API.
 */
function versionOf({ apiVersion, kind }: JsonObject): Version {
  const groups = profileNames.map((profile) => groupName(vendorOf(profile), 'kubescheduler.config'))
  for (const version of ['v1beta2', 'v1beta3'] as const)
    if (kind === 'KubeSchedulerConfiguration' && groups.some((group) => apiVersion === `${group}/${version}`))
      return version
  throw new ConfigurationFault(
    `it must be of kind KubeSchedulerConfiguration in v1beta2 or v1beta3 of ${groups.join(' or ')}`,
  )
}

function readProfile(value: Json, place: string, version: Version): Profile {
  const profile = objectAt(value, place)
  refuseOthers(profile, ['schedulerName', 'plugins', 'pluginConfig'], place)
  const name = textAt(profile.schedulerName ?? 'default-scheduler', `${place}.schedulerName`)
  const plugins = defaultsOf(version, readArguments(profile.pluginConfig ?? [], `${place}.pluginConfig`))
  return choosePlugins(profileOf(name, plugins), plugins, {
    sets: objectAt(profile.plugins ?? {}, `${place}.plugins`),
    place: `${place}.plugins`,
  })
}

/**
 * Returns the default plugins of a version. Since v1beta3, plugins that score user-specified preferences have higher
 * weights.
 */
function defaultsOf(version: Version, settings: PluginArguments): readonly WeightedPlugin[] {
  const lighter = ['TaintToleration', 'NodeAffinity', 'InterPodAffinity']
  return allPlugins(settings).map(({ plugin, weight }) => ({
    plugin,
    weight: version === 'v1beta2' && lighter.includes(plugin.name) ? 1 : weight,
  }))
}

interface PluginSets {
  readonly sets: JsonObject
  readonly place: string
}

const preemptionPlugin = 'DefaultPreemption'

function choosePlugins(start: Profile, all: readonly WeightedPlugin[], { sets, place }: PluginSets): Profile {
  refuseOthers(sets, ['multiPoint', 'filter', 'postFilter', 'score'], place)
  const names = [...all.map(({ plugin }) => plugin.name), preemptionPlugin]
  let profile = start
  for (const point of ['multiPoint', 'filter', 'postFilter', 'score']) {
    const set = readSet(sets[point] ?? {}, { place: `${place}.${point}`, names })
    const concerns = (other: string) => point === other || point === 'multiPoint'
    if (concerns('filter')) profile = { ...profile, filters: chooseFilters(profile, all, set) }
    if (concerns('score')) profile = { ...profile, scores: chooseScores(profile, all, set) }
    if (concerns('postFilter')) profile = { ...profile, preempts: choosePreemption(profile, set) }
  }
  return profile
}

interface PluginSet {
  readonly enabled: ReadonlyMap<string, number>
  readonly disabled: ReadonlySet<string>
}

function readSet(
  value: Json,
  { place, names }: { readonly place: string; readonly names: readonly string[] },
): PluginSet {
  const set = objectAt(value, place)
  refuseOthers(set, ['enabled', 'disabled'], place)
  const read = (list: 'enabled' | 'disabled') =>
    listAt(set[list] ?? [], `${place}.${list}`).map((each, i) => {
      const at = `${place}.${list}[${i}]`
      const plugin = objectAt(each, at)
      refuseOthers(plugin, ['name', 'weight'], at)
      const name = textAt(plugin.name ?? '', `${at}.name`)
      if (!names.includes(name) && !(name === '*' && list === 'disabled'))
        throw new ConfigurationFault(
          `${at}.name: unknown plugin ${JSON.stringify(name)}; known plugins are ${names.join(', ')}`,
        )
      return [name, numberAt(plugin.weight ?? 0, `${at}.weight`, 1_000_000)] as const
    })
  return { enabled: new Map(read('enabled')), disabled: new Set(read('disabled').map(([name]) => name)) }
}

function isLeftOut(name: string, { disabled }: PluginSet): boolean {
  return disabled.has('*') || disabled.has(name)
}

function choosePreemption({ preempts }: Profile, set: PluginSet): boolean {
  return set.enabled.has(preemptionPlugin) || (preempts && !isLeftOut(preemptionPlugin, set))
}

function chooseFilters({ filters }: Profile, all: readonly WeightedPlugin[], set: PluginSet): Profile['filters'] {
  const remainingPlugins = filters.filter(({ name }) => !isLeftOut(name, set))
  const added = all.flatMap(({ plugin }) =>
    plugin.filter !== undefined && set.enabled.has(plugin.name) && !remainingPlugins.includes(plugin) ? [plugin] : [],
  )
  return [...remainingPlugins, ...added]
}

function chooseScores({ scores }: Profile, all: readonly WeightedPlugin[], set: PluginSet): Profile['scores'] {
  const remainingPlugins = scores.filter(({ plugin }) => !isLeftOut(plugin.name, set) && !set.enabled.has(plugin.name))
  const added = all.flatMap(({ plugin, weight }) => {
    const configuredWeight = set.enabled.get(plugin.name)
    return plugin.score === undefined || configuredWeight === undefined
      ? []
      : [{ plugin, weight: configuredWeight || weight || 1 }]
  })
  return [...remainingPlugins, ...added]
}

function readArguments(value: Json, place: string): PluginArguments {
  let settings: PluginArguments = {}
  for (const [i, each] of listAt(value, place).entries()) {
    const at = `${place}[${i}]`
    const entry = objectAt(each, at)
    refuseOthers(entry, ['name', 'args'], at)
    const { apiVersion: _, kind: __, ...args } = objectAt(entry.args ?? {}, `${at}.args`)
    const name = textAt(entry.name ?? '', `${at}.name`)
    if (!Object.hasOwn(argumentReaders, name))
      throw new ConfigurationFault(
        `${at}.name: only these plugins accept arguments: ${Object.keys(argumentReaders).join(', ')}`,
      )
    settings = { ...settings, ...argumentReaders[name]!(args, `${at}.args`) }
  }
  return settings
}

const argumentReaders: { readonly [plugin: string]: (args: JsonObject, place: string) => PluginArguments } = {
  NodeResourcesFit: (args, place) => {
    refuseOthers(args, ['scoringStrategy'], place)
    return args.scoringStrategy === undefined ? {} : { scoringStrategy: readStrategy(args.scoringStrategy, place) }
  },
  InterPodAffinity: (args, place) => {
    refuseOthers(args, ['hardPodAffinityWeight'], place)
    return { hardPodAffinityWeight: numberAt(args.hardPodAffinityWeight ?? 1, `${place}.hardPodAffinityWeight`, 100) }
  },
  PodTopologySpread: (args, place) => {
    refuseOthers(args, ['defaultingType', 'defaultConstraints'], place)
    if ((args.defaultingType ?? 'System') === 'System') return {}
    const at = `${place}.defaultConstraints`
    const constraints = listAt(args.defaultConstraints ?? [], at)
    return { defaultConstraints: constraints.map((each, i) => readConstraint(each, `${at}[${i}]`)) }
  },
}

/**
 * Reads a default constraint. A default constraint has no selector, because the Pod's Services and controller determine
 * which Pods are counted.
 */
function readConstraint(value: Json, place: string): SpreadConstraint {
  const constraint = objectAt(value, place)
  refuseOthers(constraint, ['maxSkew', 'topologyKey', 'whenUnsatisfiable'], place)
  const maxSkew = numberAt(constraint.maxSkew ?? 0, `${place}.maxSkew`, 1_000_000)
  const whenUnsatisfiable = textAt(constraint.whenUnsatisfiable ?? '', `${place}.whenUnsatisfiable`)
  if (maxSkew < 1) throw new ConfigurationFault(`${place}.maxSkew must be greater than zero`)
  if (!['DoNotSchedule', 'ScheduleAnyway'].includes(whenUnsatisfiable))
    throw new ConfigurationFault(`${place}.whenUnsatisfiable must be DoNotSchedule or ScheduleAnyway`)
  return { maxSkew, whenUnsatisfiable, topologyKey: textAt(constraint.topologyKey ?? '', `${place}.topologyKey`) }
}

function readStrategy(value: Json, place: string): ScoringStrategy {
  const at = `${place}.scoringStrategy`
  const strategy = objectAt(value, at)
  refuseOthers(strategy, ['type', 'resources'], at)
  const { type = 'LeastAllocated', resources = [{ name: 'cpu' }, { name: 'memory' }] } = strategy
  if (type !== 'LeastAllocated' && type !== 'MostAllocated')
    throw new ConfigurationFault(`${at}.type: must be LeastAllocated or MostAllocated`)
  const weights = listAt(resources, `${at}.resources`).map((each, i) => {
    const resource = objectAt(each, `${at}.resources[${i}]`)
    const name = textAt(resource.name ?? '', `${at}.resources[${i}].name`)
    return { name, weight: numberAt(resource.weight ?? 1, `${at}.resources[${i}].weight`, 100) }
  })
  return { type, resources: weights }
}

function objectAt(value: Json, place: string): JsonObject {
  if (!isObject(value)) throw new ConfigurationFault(`${place} must be an object`)
  return value
}

function listAt(value: Json, place: string): readonly Json[] {
  if (!Array.isArray(value)) throw new ConfigurationFault(`${place} must be a list`)
  return value
}

function textAt(value: Json, place: string): string {
  if (typeof value !== 'string' || value === '') throw new ConfigurationFault(`${place} must be a string`)
  return value
}

function numberAt(value: Json, place: string, most: number): number {
  if (typeof value !== 'number' || !(value >= 0 && value <= most))
    throw new ConfigurationFault(`${place} must be a number from 0 to ${most}`)
  return value
}

function refuseOthers(object: JsonObject, knownFields: readonly string[], place: string): void {
  const other = Object.keys(object).find((key) => !knownFields.includes(key))
  if (other === undefined) return
  const at = place === '' ? other : `${place}.${other}`
  throw new ConfigurationFault(`${at} is not supported; supported fields are ${knownFields.join(', ')}`)
}
