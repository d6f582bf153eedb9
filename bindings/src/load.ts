/**
 * The only file with a compile call: some bundlers miscompile such a call in a file that edge entries reach, and workerd refuses it.
 * Knows nothing of what the module is for.
 */

/** Compiles bytes, synchronously. */
export function compile(bytes: Uint8Array<ArrayBuffer>): WebAssembly.Module {
  return new WebAssembly.Module(bytes);
}

/** Base64 to bytes, with the platform's own decoder where there is one. */
export function bytesOfBase64(text: string): Uint8Array<ArrayBuffer> {
  const native = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> }).fromBase64;
  if (native !== undefined) return native.call(Uint8Array, text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}
