/* opencl.c -- OpenCL on the processor: a kernel that is compiled as it is needed, and runs on threads of the runtime */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>

enum { COUNT = 4096 };

static const char *source = "__kernel void halve(__global float *to) { int at = get_global_id(0); float x = at;"
                            " for (int i = 0; i < 20000; i++) x = x * .5f + 1.f / (x + 1.f); to[at] = x; }";

int main(void)
{
    cl_platform_id platform;
    cl_device_id device;
    cl_int error;
    float result[COUNT];
    double sum = 0;
    clGetPlatformIDs(1, &platform, NULL);
    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    clBuildProgram(program, 1, &device, "", NULL, NULL);
    cl_kernel kernel = clCreateKernel(program, "halve", &error);
    cl_mem memory = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof result, NULL, &error);
    clSetKernelArg(kernel, 0, sizeof memory, &memory);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &(size_t){COUNT}, &(size_t){64}, 0, NULL, NULL);
    error = clEnqueueReadBuffer(queue, memory, 1, 0, sizeof result, result, 0, NULL, NULL);
    for (int i = 0; i < COUNT; i++)
        sum += result[i];
    printf("%d %.3f\n", error, sum);
    return 0;
}
