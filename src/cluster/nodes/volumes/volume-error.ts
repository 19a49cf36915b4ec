/** Thrown if a volume cannot be created. The message states the reason and appears in an Event about the pod. */
export class VolumeError extends Error {
  override readonly name = 'VolumeError'
}
