/** Answers the authorizer queries of expressions in policies and match conditions. */
import {
  AnswerPending,
  type AskAuthorizer,
  type AuthorizerAnswer,
  type CheckedAttributes,
} from '../../../api/cel/functions/authorization.ts'
import type { User } from '../../../api/model/user.ts'
import { messageOf } from '../../../base/text/errors.ts'
import type { Authorizer, Question } from '../../authz/authorizer.ts'
import { parsedSelectors } from '../../authz/request-selectors.ts'

/**
 * Creates the function that expressions use to query the authorizer. The function caches the answers for the duration
 * of one request.
 */
export function askerFor(user: User, authorizer: Authorizer): AskAuthorizer {
  const answers = new Map<string, AuthorizerAnswer>()
  return (attributes) => {
    const key = JSON.stringify(attributes)
    const cachedAnswer = answers.get(key)
    if (cachedAnswer !== undefined) return cachedAnswer
    const keep = (answer: AuthorizerAnswer) => {
      answers.set(key, answer)
      return answer
    }
    try {
      const decided = authorizer(questionOf(user, attributes))
      if (!(decided instanceof Promise)) return keep(answerOf(decided))
      throw new AnswerPending(decided.then(answerOf, failedAnswer).then(keep))
    } catch (error) {
      if (error instanceof AnswerPending) throw error
      return keep(failedAnswer(error))
    }
  }
}

function answerOf({ verdict, reason }: { verdict: string; reason: () => string }): AuthorizerAnswer {
  return { isAllowed: verdict === 'allow', reason: reason() }
}

function failedAnswer(error: unknown): AuthorizerAnswer {
  return { isAllowed: false, reason: '', error: messageOf(error) }
}

function questionOf(user: User, { user: account, path, ...attributes }: CheckedAttributes): Question {
  const asking = account === undefined ? user : accountUser(account)
  if (path !== undefined) return { user: asking, attributes: { resource: false, verb: attributes.verb, path } }
  const { verb, group, resource: plural, subresource, namespace, name } = attributes
  const selectors = parsedSelectors(attributes)
  return {
    user: asking,
    attributes: { resource: true, verb, group, version: '*', plural, subresource, namespace, name, selectors },
  }
}

function accountUser({ namespace, serviceAccount }: { namespace: string; serviceAccount: string }): User {
  return {
    name: `system:serviceaccount:${namespace}:${serviceAccount}`,
    uid: '',
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
    extra: new Map(),
  }
}
