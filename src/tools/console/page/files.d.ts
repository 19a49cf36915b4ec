/** Files that the bundler takes in: styles, and images by their addresses. */
declare module '*.css'
declare module '*.svg' {
  const address: string
  export default address
}
