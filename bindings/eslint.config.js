// Lints of the bindings (typed) and of the plain JavaScript around them: scripts, tests, examples.
import js from "@eslint/js";
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["**/node_modules/**", "src/generated/**", "types/**"] },
  js.configs.recommended,
  {
    files: ["src/**/*.ts"],
    extends: [...tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-console": "error",
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-unnecessary-condition": "off",
    },
  },
  {
    files: ["**/*.js", "**/*.mjs"],
    languageOptions: {
      globals: {
        console: "readonly", process: "readonly", Buffer: "readonly", URL: "readonly", WebAssembly: "readonly",
        TextEncoder: "readonly", TextDecoder: "readonly", Response: "readonly", Request: "readonly", fetch: "readonly",
        ReadableStream: "readonly", AbortController: "readonly", AbortSignal: "readonly", structuredClone: "readonly",
        setTimeout: "readonly", clearTimeout: "readonly", setInterval: "readonly", clearInterval: "readonly",
        setImmediate: "readonly", queueMicrotask: "readonly", performance: "readonly", globalThis: "readonly",
        crypto: "readonly", atob: "readonly", btoa: "readonly",
      },
    },
    rules: { "no-eval": "error", "no-new-func": "error", "no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }] },
  },
);
