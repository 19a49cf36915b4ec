/**
 * Implements `orchctl set env`, which sets environment variables from pairs or from the keys of a ConfigMap or Secret.
 */

import type { ApiObject } from '../../../../api/model/object.ts'
import { flag, type OptionsOf, readBoolean, repeated, text, toggle, UsageError } from '../../../../base/flags/flags.ts'
import { findSubjects } from '../../arguments/subjects.ts'
import { liveOf } from '../../changes/patch-command.ts'
import { withTypedSession } from '../../changes/remove-nulls.ts'
import { refuseListedForm } from '../../changes/report-write.ts'
import { escapeLine } from '../../printers/escape.ts'
import { type Context, defineCommand } from '../../program/command.ts'
import { changedEnvironment, type EnvChange, type Variable } from './environment.ts'
import { listEnvironment } from './list-environment.ts'
import { changeContainers, namesContainer, noSuchContainer, setFlags, setInObjects, splitWords } from './pod-spec.ts'
import { variablesFrom } from './variables-from.ts'

export const envFlags = {
  containers: flag({
    name: 'containers',
    letter: 'c',
    value: 'NAME',
    default: '*',
    read: text,
    help: 'names of the containers to change; * is a wildcard',
  }),
  env: repeated({
    name: 'env',
    letter: 'e',
    value: 'NAME=VALUE',
    read: text,
    help: 'environment variable to set, as NAME=VALUE; - reads variables from standard input',
  }),
  from: flag({
    name: 'from',
    value: 'TYPE/NAME',
    read: text,
    help: 'ConfigMap or Secret to import, one variable per key',
  }),
  keys: flag({ name: 'keys', value: 'KEY,...', read: text, help: 'with --from: keys to import; default: all keys' }),
  prefix: flag({ name: 'prefix', value: 'TEXT', read: text, help: 'with --from: prefix for variable names' }),
  overwrite: flag({
    name: 'overwrite',
    default: 'true',
    read: readBoolean,
    help: 'overwrite existing variables; if false, fail if a variable already exists',
  }),
  list: toggle({ name: 'list', help: 'print the environment variables without changing them' }),
  resolve: toggle({
    name: 'resolve',
    help: 'with --list: print the values of variables that refer to ConfigMaps and Secrets',
  }),
  ...setFlags,
}

export const setEnvCommand = defineCommand({
  name: 'set env',
  forms: ['(TYPE NAME | TYPE/NAME | -f FILE | TYPE -l SELECTOR | TYPE --all) NAME=VALUE... [NAME-...] [flags]'],
  about: 'Set, remove (NAME-) or list (--list) environment variables of containers.',
  examples: [
    'orchctl set env deployment/web LEVEL=debug OLD-',
    'orchctl set env deployment/web --from=configmap/settings --prefix=APP_',
    'orchctl set env deployment/web --list',
  ],
  flags: envFlags,
  run: async (context, { options, words }) => {
    const { subjects, changes } = splitWords(words, (word) => word.includes('=') || word.endsWith('-'))
    if (options.list) return await list(context, subjects, options)
    const change = readChange([...changes, ...(await givenVariables(context, options.env))])
    if (change.set.length + change.remove.length === 0 && options.from === '')
      throw new UsageError('nothing to set: specify NAME=VALUE, NAME- to remove a variable, or --from=configmap/NAME')
    await setInObjects(
      context,
      { words: subjects, options },
      {
        set: (session) => async (object) => {
          warnOfContainers(context, object, options)
          const from = options.from === '' ? [] : await variablesFrom(session, options)
          const whole = { ...change, set: [...change.set, ...from] }
          return changeContainers(object, (container) => {
            if (!namesContainer(options.containers, container.name)) return container
            return { ...container, env: changedEnvironment(container, whole, { object, overwrite: options.overwrite }) }
          })
        },
        done: 'env updated',
      },
    )
  },
})

/**
 * Prints a warning if the object does not have a container with a given name. This is not an error, because some of the
 * other objects may have the container.
 */
function warnOfContainers({ err }: Context, object: ApiObject, { containers }: { readonly containers: string }): void {
  const missing = noSuchContainer(object, containers)
  if (missing !== undefined) err(`warning: ${escapeLine(missing)}\n`)
}

async function givenVariables(
  { input }: { input: () => Promise<Buffer> },
  variables: readonly string[],
): Promise<string[]> {
  if (!variables.includes('-')) return [...variables]
  const lines = (await input()).toString('utf8').split('\n')
  const variableLines = lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'))
  return [...variables.filter((variable) => variable !== '-'), ...variableLines]
}

function readChange(words: readonly string[]): EnvChange {
  const set: Variable[] = []
  const remove: string[] = []
  for (const word of words) {
    const equals = word.indexOf('=')
    if (equals > 0) set.push({ name: word.slice(0, equals), value: word.slice(equals + 1) })
    else if (equals < 0 && word.length > 1 && word.endsWith('-')) remove.push(word.slice(0, -1))
    else
      throw new UsageError(
        `${JSON.stringify(word)} is not a valid variable assignment: use NAME=VALUE to set a variable, or NAME- to remove one`,
      )
  }
  const both = set.find(({ name }) => remove.includes(name))
  if (both !== undefined) throw new UsageError(`cannot both set and remove the variable ${JSON.stringify(both.name)}`)
  return { set, remove }
}

async function list(context: Context, words: readonly string[], options: OptionsOf<typeof envFlags>): Promise<void> {
  refuseListedForm(options)
  await withTypedSession(context, options, async (session) => {
    const subjectOptions = { ...options, fieldSelector: '', allNamespaces: false }
    for (const subject of await findSubjects(session, words, subjectOptions)) {
      const object = await liveOf(session, subject)
      warnOfContainers(context, object, options)
      context.out(await listEnvironment(session, object, options))
    }
  })
}
