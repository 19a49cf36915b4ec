/** Formats the message of a 403 as in Kubernetes: user, verb, resource and namespace. */

import { type ApiError, forbiddenError } from '../../../api/model/api-error.ts'
import { shownName } from '../../../api/model/user.ts'
import { shorten } from '../../../base/text/shorten.ts'
import type { Decision, PathAttributes, Question, ResourceAttributes } from '../../authz/authorizer.ts'

/** Maximum length of a path or name in the message. */
const maxShown = 500

export function refusal(
  { user, attributes }: Question,
  { reason }: Decision,
  { mayAskWhy = false }: { readonly mayAskWhy?: boolean } = {},
): ApiError {
  const why = reason()
  const because = `${why === '' ? '' : `: ${why}`}${mayAskWhy ? hint(attributes) : ''}`
  if (!attributes.resource)
    return forbiddenError(undefined, '', `${pathRefusal(shownName(user), attributes)}${because}`)
  const { group, plural } = attributes
  const name = shorten(attributes.name, maxShown)
  const full = group === '' ? plural : `${plural}.${group}`
  const named = name === '' ? full : `${full} "${name}"`
  return forbiddenError(
    { group, plural },
    name,
    `${named} is forbidden: ${resourceRefusal(shownName(user), attributes)}${because}`,
  )
}

function pathRefusal(user: string, { verb, path }: PathAttributes): string {
  return `forbidden: User "${user}" cannot ${verb} path "${shorten(path, maxShown)}"`
}

function resourceRefusal(user: string, attributes: ResourceAttributes): string {
  const { verb, group, plural, subresource, namespace } = attributes
  const what = subresource === '' ? plural : `${plural}/${subresource}`
  const scope = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`
  return `User "${user}" cannot ${verb} resource "${what}" in API group "${group}" ${scope}`
}

/**
 * Returns the command that explains the refusal, or '' if an argument contains characters that are special to a shell.
 */
function hint(attributes: ResourceAttributes | PathAttributes): string {
  const { words, namespace } = wordsOf(attributes)
  const isPlain = [...words, ...(namespace ? [namespace] : [])].every((word) => plain.test(word))
  const place = namespace === undefined ? '' : namespace === '' ? ' -A' : ` -n ${namespace}`
  return isPlain ? `; to see why: orchctl auth why ${words.join(' ')}${place}` : ''
}

const plain = /^[A-Za-z0-9/][A-Za-z0-9./:_-]{0,300}$/

/**
 * Returns the message of the refusal. The namespace is undefined for non-resource paths, and '' at the cluster scope.
 */
function wordsOf(attributes: ResourceAttributes | PathAttributes): { words: string[]; namespace?: string } {
  if (!attributes.resource) return { words: [attributes.verb, attributes.path] }
  const { verb, group, plural, subresource, name, namespace } = attributes
  const type = `${plural}${group === '' ? '' : `.${group}`}${subresource === '' ? '' : `/${subresource}`}`
  return { words: [verb, type, ...(name === '' ? [] : [name])], namespace }
}
