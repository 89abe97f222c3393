"""The SDK: live sessions from Python, asynchronous first.

    import holdfast

    async with holdfast.connect() as host:
        async with host.attach("build") as session:
            made = await session.run("make")
            print(made.status, made.output)

Its names are those of `holdfast` itself, which loads this package when the first of
them is used. `holdfast.sync` is the same without `await`.
"""
