/**
 * Implements `orchctl simulate pod|node`, which makes a simulated pod or node fail or recover. The command writes a
 * SimulationRule for that one object. The name of the rule starts with `pod.` or `node.`. Rules for several objects can
 * be applied from files.
 */
import { nodeFailures, podFailures } from '../../../../api/model/simulated-failures.ts'
import { flag, type OptionsOf, text, UsageError } from '../../../../base/flags/flags.ts'
import { parseDuration } from '../../../../base/time/duration.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import { inDomainOf } from '../../../../client/requests/resource-type.ts'
import { isNotFound } from '../../../../client/requests/status-error.ts'
import { connectionFlags } from '../../connection/connection-flags.ts'
import { type Session, withSession } from '../../connection/session.ts'
import { type Command, defineCommand } from '../../program/command.ts'

/** The argument that ends all simulated failures. Users specify it instead of the name of a failure. */
const recover = 'recover'

const flags = {
  delay: flag({
    name: 'delay',
    value: 'DURATION',
    read: text,
    help: 'delay before containers exit (crash-loop, oom), start (slow-start) or receive their volumes (slow-volumes)',
  }),
  ...connectionFlags,
}

interface Target {
  readonly word: 'pod' | 'node'
  readonly failures: readonly string[]
  readonly about: string
  readonly examples: readonly string[]
}

export const simulatePodCommand = simulateCommand({
  word: 'pod',
  failures: podFailures.filter((failure) => failure !== 'none'),
  about: 'Make a pod on a simulated node fail, or make the pod recover.',
  examples: ['orchctl simulate pod web-1 crash-loop', 'orchctl simulate pod web-1 recover'],
})

export const simulateNodeCommand = simulateCommand({
  word: 'node',
  failures: nodeFailures,
  about: 'Make a simulated node fail, or make the node recover.',
  examples: ['orchctl simulate node node-3 down', 'orchctl simulate node node-3 recover'],
})

function simulateCommand({ word, failures, about, examples }: Target): Command {
  const choices = [...failures, recover]
  return defineCommand({
    name: `simulate ${word}`,
    forms: [`NAME (${choices.join(' | ')}) [flags]`],
    about,
    examples,
    flags,
    run: async (context, { options, words }) => {
      const [name, failure, ...more] = words
      if (name === undefined || failure === undefined || more.length > 0)
        throw new UsageError(`specify the name of the ${word} and one of these failures: ${choices.join(', ')}`)
      if (!choices.includes(failure))
        throw new UsageError(`${JSON.stringify(failure)} is not one of ${choices.join(', ')}`)
      const delaySeconds = readDelay(options)
      await withSession(context, options, async (session) => {
        const done =
          failure === recover
            ? await endFailure(session, { word, name })
            : await startFailure(session, { word, name, failure, delaySeconds })
        context.out(`${word}/${name} ${done}\n`)
      })
    },
  })
}

function readDelay({ delay }: OptionsOf<typeof flags>): number | undefined {
  if (delay === '') return undefined
  const ms = parseDuration(delay)
  if (ms === undefined || ms < 0)
    throw new UsageError(`--delay: ${JSON.stringify(delay)} is not a duration: use a duration such as 30s or 2m`)
  return Math.ceil(ms / 1000)
}

interface Subject {
  readonly word: 'pod' | 'node'
  readonly name: string
}

function ruleName({ namespace }: Session, { word, name }: Subject): string {
  return word === 'pod' ? `pod.${namespace}.${name}` : `node.${name}`
}

interface Failing extends Subject {
  readonly failure: string
  readonly delaySeconds: number | undefined
}

async function startFailure(session: Session, { failure, delaySeconds, ...subject }: Failing): Promise<string> {
  const { client, namespace, context, types } = session
  const type = inDomainOf(await types.vendor(), kinds.SimulationRule)
  const { word, name } = subject
  // A misspelled name would otherwise create a rule that never takes effect.
  if (word === 'pod') await client.get(kinds.Pod, { namespace, name }, { signal: context.signal })
  else await client.get(kinds.Node, { name }, { signal: context.signal })
  const spec = {
    failure,
    names: [name],
    ...(word === 'pod' ? { namespaces: [namespace] } : {}),
    ...(delaySeconds === undefined ? {} : { delaySeconds }),
  }
  const metadata = { name: ruleName(session, subject) }
  await client.apply(
    type,
    { metadata, spec },
    { fieldManager: 'orchctl-simulate', force: true, signal: context.signal },
  )
  return `simulates ${failure}`
}

async function endFailure(session: Session, subject: Subject): Promise<string> {
  const { client, context, types } = session
  const type = inDomainOf(await types.vendor(), kinds.SimulationRule)
  try {
    await client.delete(type, { name: ruleName(session, subject) }, { signal: context.signal })
    return 'recovers'
  } catch (error) {
    if (!isNotFound(error)) throw error
    return 'has no simulated failure from this command'
  }
}
