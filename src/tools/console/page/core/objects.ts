/**
 * Hooks that provide complete objects to a component: a selection or a single object, kept up to date by an informer.
 */
import { useEffect, useState } from 'preact/hooks'
import type { ApiObject } from '../../../../api/model/object.ts'
import { Informer } from '../../../../client/informers/informer.ts'
import { type ObjectName, type Selection, StatusError } from '../../../../client/library/client-browser.ts'
import { type Type, useConsoleContext } from './kinds.ts'
import { refusalMs } from './live-table.ts'
import { Store } from './observable.ts'
import { useStore } from './store.ts'

export interface Followed<T> {
  readonly objects: readonly T[]
  /** Whether the objects have been listed completely. */
  readonly synced: boolean
  /** The latest error. Undefined while the objects are up to date. */
  readonly error: unknown
}

const nothing: Followed<never> = { objects: [], synced: false, error: undefined }

/**
 * Returns the objects of a selection. The list is empty if the server does not serve the type. A page that needs only
 * some fields of many objects lists them in `fields`, so that the server sends only those fields. The list must include
 * the `metadata` fields that identify the object and its version.
 */
export function useObjects<T extends ApiObject = ApiObject>(
  type: Type | undefined,
  selection: Selection & { readonly fields?: string } = {},
): Followed<T> {
  const { client, kinds } = useConsoleContext()
  const { namespace, labelSelector, fieldSelector, fields } = selection
  const place = type === undefined ? '' : `${type.group}/${type.version}/${type.plural}`
  const [store, setStore] = useState(() => new Store<Followed<T>>(nothing))
  const [attempt, setAttempt] = useState({ place: '', refusal: undefined as unknown })
  useEffect(() => {
    if (type === undefined) return
    const next = new Store<Followed<T>>({ ...nothing, error: attempt.place === place ? attempt.refusal : undefined })
    let retry: ReturnType<typeof setTimeout> | undefined
    const aborting = new AbortController()
    const listOptions = {
      ...(namespace === undefined ? {} : { namespace }),
      ...(labelSelector === undefined ? {} : { labelSelector }),
      ...(fieldSelector === undefined ? {} : { fieldSelector }),
    }
    const onError = (error: unknown) => {
      next.set({ ...next.value, error })
      if (!isRefusal(error) || aborting.signal.aborted) return
      aborting.abort()
      // A removed kind results in a 404, and permissions may be granted later, so the page retries.
      if (error.code === 404) void kinds.refresh().catch(() => {})
      retry = setTimeout(() => setAttempt({ place, refusal: error }), refusalMs)
    }
    const onFollowing = () => next.set({ ...next.value, error: undefined })
    const informer = new Informer(client, type, {
      selection: listOptions,
      streamingLists: false,
      ...(fields === undefined ? {} : { fields }),
      onError,
      onFollowing,
    })
    const show = () =>
      next.set({ objects: [...informer.objects()] as unknown as T[], synced: next.value.synced, error: undefined })
    informer.onChange(show)
    void informer.synced.then((synced) => {
      if (synced) next.set({ objects: [...informer.objects()] as unknown as T[], synced, error: undefined })
    })
    void informer.run(aborting.signal)
    setStore(next)
    return () => {
      clearTimeout(retry)
      aborting.abort()
    }
  }, [client, place, namespace, labelSelector, fieldSelector, fields, attempt])
  return useStore(store)
}

/** Returns one object, or undefined while it does not exist. */
export function useObject(type: Type | undefined, { namespace, name }: ObjectName) {
  const selection = { fieldSelector: `metadata.name=${name}`, ...(namespace === undefined ? {} : { namespace }) }
  const { objects, synced, error } = useObjects(type, selection)
  return { object: objects.find(({ metadata }) => metadata.name === name), synced, error }
}

/** Whether the error is permanent, such as a missing permission. */
function isRefusal(error: unknown): error is StatusError {
  return error instanceof StatusError && (error.code === 403 || error.code === 404 || error.code === 405)
}
